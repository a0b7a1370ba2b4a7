export { readApiKey } from './api-key-header.ts';
export {
  createCredentials,
  type ApiKeyGrant,
  type Credentials,
  type ProjectConfig,
} from './credentials.ts';
export { createInvalidation, type Invalidation } from './invalidation.ts';
export { createKey, kindOfKey, type KeyKind } from './key-format.ts';
export { hashKey, type Pepper } from './key-hash.ts';
export { openStores, storeVariables } from './stores.ts';
