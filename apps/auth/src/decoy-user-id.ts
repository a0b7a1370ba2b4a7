import { createHmac } from 'node:crypto';
import { deriveRing, type KeyRing } from '@gatehouse/secrets';
import { formatUuid } from './uuid.ts';

/**
 * A user id (UUID version 4 in form) that is always the same for an address and says nothing
 * about it: signing up with a taken address shows this one, each time, as a new address would
 * show its own.
 */
export function createDecoyUserId(keyRing: KeyRing) {
  const [{ secret }] = deriveRing(keyRing, 'decoy-user-id');
  return (projectId: string, email: string): string => {
    const bytes = createHmac('sha256', secret).update(`${projectId}\n${email}`).digest();
    bytes[6] = (bytes[6]! & 0x0f) | 0x40;
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    return formatUuid(bytes.subarray(0, 16));
  };
}
