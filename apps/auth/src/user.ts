import type { Session, User } from '@gatehouse/database';
import { z } from 'zod';

const time = z.iso.datetime();

/** The project user, as every answer shows it. */
export const userBody = z
  .object({
    id: z.uuid(),
    email: z.email(),
    display_name: z.string().nullable(),
    user_metadata: z.record(z.string(), z.json()),
    email_confirmed_at: time.nullable(),
    last_sign_in_at: time.nullable(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'User' });

export type UserBody = z.input<typeof userBody>;

export const renderUser = (user: User): UserBody => ({
  id: user.id,
  email: user.email,
  display_name: user.displayName,
  user_metadata: user.userMetadata as UserBody['user_metadata'],
  email_confirmed_at: user.emailConfirmedAt?.toISOString() ?? null,
  last_sign_in_at: user.lastSignInAt?.toISOString() ?? null,
  created_at: user.createdAt.toISOString(),
  updated_at: user.updatedAt.toISOString(),
});

/** The session record. */
export const sessionBody = z
  .object({
    id: z.uuid(),
    created_at: time,
    refreshed_at: time,
    expires_at: time.meta({ description: 'Unless it is refreshed before.' }),
  })
  .meta({ id: 'Session' });

export const renderSession = (session: Session): z.input<typeof sessionBody> => ({
  id: session.id,
  created_at: session.createdAt.toISOString(),
  refreshed_at: session.refreshedAt.toISOString(),
  expires_at: session.expiresAt.toISOString(),
});
