export { createEnvelope, EnvelopeError, type Envelope } from './envelope.ts';
export { deriveRing, parseKeyRing, type KeyRing, type RingKey } from './key-ring.ts';
