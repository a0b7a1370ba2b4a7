export {
  createAccessTokenVerifier,
  issuerOf,
  signAccessToken,
  type AccessTokenSubject,
  type SigningKey,
} from './access-token.ts';
