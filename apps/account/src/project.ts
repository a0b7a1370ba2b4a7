import type { Project } from '@gatehouse/database';
import { z } from 'zod';

const isOrigin = (text: string) =>
  text === '*' || (URL.canParse(text) && new URL(text).origin === text);

/** What a browser may be sent to: https, a loopback address, or an app's own scheme. */
function isSafeRedirect(text: string): boolean {
  // What URL parsers leave out silently would end up in a Location header.
  if (/[\s\p{Cc}\\]/u.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname, hash, username, password } = new URL(text);
  if (hash || username || password) return false;
  if (protocol === 'http:') return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  return !['javascript:', 'data:', 'vbscript:', 'file:', 'blob:', 'about:'].includes(protocol);
}

/** The auth settings of a project. What is not given has its default. */
export const authSettingsField = z
  .strictObject({
    signup_enabled: z.boolean().default(true),
    email: z
      .strictObject({
        enabled: z.boolean().default(true),
        confirmation_required: z.boolean().default(false),
      })
      .prefault({}),
    password: z
      .strictObject({
        min_length: z.int().min(8).max(128).default(8),
        required: z
          .array(z.enum(['lowercase', 'uppercase', 'digit', 'symbol']))
          .max(4)
          .default([]),
      })
      .prefault({}),
    access_token_ttl_seconds: z.int().min(120).max(86_400).default(3_600),
    session_ttl_seconds: z.int().min(3_600).max(31_536_000).default(2_592_000).meta({
      description: 'A session that is not refreshed for this long ends.',
    }),
    allowed_origins: z
      .array(z.string().max(300).refine(isOrigin, 'not an origin such as https://app.example.com'))
      .max(50)
      .default([])
      .meta({ description: 'Browser origins that may call the auth group; "*" for all.' }),
    redirect_urls: z
      .array(z.string().max(2_000).refine(isSafeRedirect, 'not a URL that may be redirected to'))
      .max(50)
      .default([])
      .meta({ description: 'Compared exactly. https, loopback http, or a scheme of an app.' }),
  })
  .meta({ id: 'AuthSettings' });

/** The columns of the settings. */
export const columnsOf = (auth: z.output<typeof authSettingsField>) => ({
  signupEnabled: auth.signup_enabled,
  emailEnabled: auth.email.enabled,
  confirmationRequired: auth.email.confirmation_required,
  passwordMinLength: auth.password.min_length,
  passwordRequired: [...new Set(auth.password.required)],
  accessTokenTtlSeconds: auth.access_token_ttl_seconds,
  sessionTtlSeconds: auth.session_ttl_seconds,
  allowedOrigins: auth.allowed_origins,
  redirectUrls: auth.redirect_urls,
});

export const projectBody = z
  .object({
    id: z.string(),
    name: z.string(),
    publishable_key: z.string().meta({ description: 'May stand in a browser.' }),
    auth: authSettingsField,
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Project' });

export const renderProject = (project: Project): z.output<typeof projectBody> => ({
  id: project.id,
  name: project.name,
  publishable_key: project.publishableKey,
  auth: {
    signup_enabled: project.signupEnabled,
    email: { enabled: project.emailEnabled, confirmation_required: project.confirmationRequired },
    password: {
      min_length: project.passwordMinLength,
      required: project.passwordRequired as z.output<
        typeof authSettingsField
      >['password']['required'],
    },
    access_token_ttl_seconds: project.accessTokenTtlSeconds,
    session_ttl_seconds: project.sessionTtlSeconds,
    allowed_origins: project.allowedOrigins,
    redirect_urls: project.redirectUrls,
  },
  created_at: project.createdAt.toISOString(),
});
