import { availableParallelism } from 'node:os';
import { openStores } from '@gatehouse/credentials';
import { runService } from '@gatehouse/http';
import { createEnvelope } from '@gatehouse/secrets';
import { createAccessTokenVerifier } from '@gatehouse/tokens';
import { createApp } from './app.ts';
import { environment } from './config.ts';
import { createDecoyUserId } from './decoy-user-id.ts';
import { createPasswords, hashConcurrency } from './password.ts';
import { createRefreshTokens } from './refresh-token.ts';
import { checkSigningKeys, createSigningKeys } from './signing-keys.ts';

await runService('auth', environment, process.env, async (context) => {
  const { config } = context;
  const { close, ...stores } = await openStores(context);
  const now = Date.now;
  const signing = { db: stores.db, envelope: createEnvelope(config.SECRETS_KEY_RING), now };
  await checkSigningKeys(signing);
  const signingKeys = createSigningKeys(signing);
  const app = createApp({
    ...context,
    ...stores,
    passwords: createPasswords({
      concurrency:
        config.PASSWORD_HASH_CONCURRENCY ??
        hashConcurrency(availableParallelism(), config.UV_THREADPOOL_SIZE),
      maxQueued: config.PASSWORD_HASH_QUEUE,
    }),
    signingKeys,
    refreshTokens: createRefreshTokens(config.SECRETS_KEY_RING),
    verifyAccessToken: createAccessTokenVerifier({ getKey: signingKeys.getKey, now }),
    decoyUserId: createDecoyUserId(config.SECRETS_KEY_RING),
    now,
    refreshGraceMs: config.REFRESH_GRACE_SECONDS * 1000,
  });
  return { app, close };
});
