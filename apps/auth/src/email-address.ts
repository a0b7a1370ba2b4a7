import { domainToASCII } from 'node:url';
import { z } from 'zod';

const localPart = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const domain = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/;

/**
 * An email address in the one form that all its spellings share, or undefined for what is none.
 *
 * Compatibility forms are folded (NFKC: a full-width letter is the plain one), letters are lower
 * case, and the domain is in ASCII (IDNA) without a trailing dot. A local part outside ASCII is
 * refused: its look-alikes cannot be told apart. `+tags` and dots count, as they do for most mail
 * servers.
 */
export function canonicalEmail(text: string): string | undefined {
  const folded = text.normalize('NFKC').toLowerCase();
  const at = folded.lastIndexOf('@');
  const local = folded.slice(0, at);
  const host = folded.slice(at + 1);
  // domainToASCII reads as a URL's host is read: it cuts, decodes or leaves out these.
  const ascii = /[\s\p{Cc}/\\?#%:]/u.test(host) ? '' : domainToASCII(host).replace(/\.$/, '');
  const isAddress = at > 0 && local.length <= 64 && localPart.test(local) && domain.test(ascii);
  const email = `${local}@${ascii}`;
  return isAddress && email.length <= 254 ? email : undefined;
}

/** An email address in a request; comes out in its canonical form. */
export const emailField = z
  .string()
  .max(320)
  .transform((text, context) => {
    const email = canonicalEmail(text);
    if (email) return email;
    context.addIssue('not an email address');
    return z.NEVER;
  })
  .meta({ type: 'string', format: 'email', description: 'Case does not count.' });
