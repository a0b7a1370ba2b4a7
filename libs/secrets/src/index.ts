export { createEnvelope, EnvelopeError, type Envelope } from './envelope.ts';
export { deriveRing, keyRingField, parseKeyRing, type KeyRing, type RingKey } from './key-ring.ts';
