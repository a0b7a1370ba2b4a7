import { ApiError } from '@gatehouse/http';
import {
  errors,
  jwtVerify,
  SignJWT,
  type CryptoKey,
  type JWTPayload,
  type JWTVerifyGetKey,
} from 'jose';

const audience = 'service-project-auth';
const tokenUse = 'project_auth_access';

/** Who an access token speaks for. */
export interface AccessTokenSubject {
  projectId: string;
  /** User id; the claim `sub`. */
  userId: string;
  sessionId: string;
  email: string;
}

/** The key that signs for a project, and its id in the project's key set. */
export interface SigningKey {
  kid: string;
  privateKey: CryptoKey;
}

/** The claim `iss` of a project's access tokens (interface section 2.6). */
export const issuerOf = (projectId: string): string => `service-project:${projectId}`;

/**
 * Signs an RS256 access token with the claims of interface section 2.6.
 * @param issuedAt seconds since the epoch
 * @param ttlSeconds how long it is valid
 */
export const signAccessToken = (
  { projectId, userId, sessionId, email }: AccessTokenSubject,
  { kid, privateKey }: SigningKey,
  issuedAt: number,
  ttlSeconds: number,
): Promise<string> =>
  new SignJWT({ tokenUse, projectId, sessionId, email })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid })
    .setIssuer(issuerOf(projectId))
    .setAudience(audience)
    .setSubject(userId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + ttlSeconds)
    .sign(privateKey);

export interface VerifierOptions {
  /** Finds the public key by the token's `kid`; jose's `createRemoteJWKSet` is one. */
  getKey: JWTVerifyGetKey;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Where given, a token of any other project is refused. */
  projectId?: string;
}

/** Seconds by which a token may have been issued in our future. */
const clockSkewSeconds = 60;

/**
 * A verifier of access tokens by the rules of interface section 5: RS256 alone, a key with the
 * token's `kid`, and every claim of section 2.6 with its value.
 *
 * It proves who the token was made for, not that the session still stands.
 *
 * @throws {ApiError} `access_token_required`, `access_token_expired`, `access_token_invalid`
 */
export function createAccessTokenVerifier(options: VerifierOptions) {
  return async (authorization: string | undefined): Promise<AccessTokenSubject> => {
    const token = bearerToken(authorization);
    let payload: JWTPayload;
    try {
      const verified = await jwtVerify(token, options.getKey, {
        algorithms: ['RS256'],
        audience,
        requiredClaims: ['iss', 'sub', 'exp', 'iat'],
        currentDate: new Date(options.now()),
      });
      payload = verified.payload;
      if (!verified.protectedHeader.kid) throw invalid();
    } catch (cause) {
      if (cause instanceof errors.JWTExpired) throw unauthorized('access_token_expired');
      // A key set that cannot be fetched says nothing about the token.
      if (cause instanceof errors.JOSEError || cause instanceof ApiError) throw invalid();
      throw cause;
    }
    return subjectOf(payload, options);
  };
}

function subjectOf(payload: JWTPayload, { now, projectId }: VerifierOptions): AccessTokenSubject {
  const { sub, iss, aud, iat, projectId: claimed, sessionId, email } = payload;
  const isOurs =
    typeof claimed === 'string' &&
    typeof sub === 'string' &&
    typeof sessionId === 'string' &&
    typeof email === 'string' &&
    payload['tokenUse'] === tokenUse &&
    aud === audience &&
    iss === issuerOf(claimed) &&
    (projectId === undefined || claimed === projectId) &&
    (iat ?? Infinity) <= now() / 1000 + clockSkewSeconds;
  if (!isOurs) throw invalid();
  return { projectId: claimed, userId: sub, sessionId, email };
}

/**
 * The token of an `Authorization: Bearer` header (RFC 6750 section 2.1).
 * @throws {ApiError} `access_token_required`
 */
function bearerToken(authorization: string | undefined): string {
  const [, token] = /^bearer +([\w-]+\.[\w-]+\.[\w-]*) *$/i.exec(authorization ?? '') ?? [];
  if (token) return token;
  throw authorization ? invalid() : unauthorized('access_token_required');
}

const invalid = () => unauthorized('access_token_invalid');

/** A 401 with the challenge of RFC 6750 section 3: bare where no token was sent. */
function unauthorized(
  code: 'access_token_required' | 'access_token_invalid' | 'access_token_expired',
): ApiError {
  const challenge = code === 'access_token_required' ? 'Bearer' : 'Bearer error="invalid_token"';
  return new ApiError(code, { headers: { 'WWW-Authenticate': challenge } });
}
