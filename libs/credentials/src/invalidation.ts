import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { Redis } from 'ioredis';

export interface InvalidationOptions {
  /** For publishing. */
  redis: Redis;
  /** Namespace of the channels, so that two installations can share a Redis. */
  prefix: string;
  /** The oldest that a cached credential can be, in milliseconds: the bound of every wait. */
  maxAgeMs: number;
}

/** What a cache does when it is told. */
export interface InvalidationListener {
  /** Forget this credential or project. */
  forget(id: string): void;
  /** Messages may have been lost, or may be lost from now on: forget everything. */
  forgetAll(): void;
}

export interface Invalidation {
  /** Whether this process hears of every change. Where not, nothing may be served from a cache. */
  readonly isListening: boolean;
  /**
   * Subscribes. Resolves when every later change will be heard; where Redis cannot be reached, at
   * once, with {@link isListening} false until it can.
   */
  listen(listener: InvalidationListener): Promise<void>;
  /**
   * Makes every process forget a credential, and resolves only when all have done so. Each
   * subscriber confirms; should one not, or should Redis be down, it waits `maxAgeMs`, after
   * which nobody's cache can still hold it.
   */
  announce(id: string): Promise<void>;
  close(): Promise<void>;
}

interface Message {
  id: string;
  replyTo: string;
  nonce: string;
}

/** Tells all processes that a credential changed, through Redis pub/sub with confirmations. */
export function createInvalidation(options: InvalidationOptions): Invalidation {
  const { redis, prefix, maxAgeMs } = options;
  const channel = `${prefix}:credentials:changed`;
  const replyChannel = `${prefix}:credentials:confirmed:${randomUUID()}`;
  const subscriber = redis.duplicate({
    autoResubscribe: false,
    lazyConnect: true,
    connectionName: `${prefix}:credentials`,
  });
  const confirmations = new EventEmitter<Record<string, []>>().setMaxListeners(0);
  const listeners: InvalidationListener[] = [];
  let isListening = false;

  const forgetAll = () => listeners.forEach((listener) => listener.forgetAll());

  const subscribe = async () => {
    await subscriber.subscribe(channel, replyChannel);
    forgetAll();
    isListening = true;
  };
  subscriber.on('error', () => undefined); // ioredis reconnects; 'close' has told all that matters
  subscriber.on('close', () => {
    isListening = false;
    forgetAll();
  });
  subscriber.on('ready', () => void subscribe().catch(() => subscriber.disconnect(true)));
  subscriber.on('message', (from: string, text: string) => {
    if (from === replyChannel) return void confirmations.emit(text);
    const { id, replyTo, nonce } = JSON.parse(text) as Message;
    listeners.forEach((listener) => listener.forget(id));
    redis.publish(replyTo, nonce).catch(() => undefined); // the announcer's bound covers it
  });

  return {
    get isListening() {
      return isListening;
    },
    async listen(listener) {
      listeners.push(listener);
      try {
        if (subscriber.status === 'wait') await subscriber.connect();
        if (!isListening) await subscribe();
      } catch {
        // ioredis goes on connecting, and 'ready' subscribes.
      }
    },
    async announce(id) {
      listeners.forEach((listener) => listener.forget(id));
      const { promise: allConfirmed, resolve } = Promise.withResolvers<void>();
      const bound = setTimeout(resolve, maxAgeMs);
      const nonce = randomUUID();
      let missing = 0; // counts down while confirmations arrive, up by how many were told
      confirmations.on(nonce, () => {
        if (--missing === 0) resolve();
      });
      const message: Message = { id, replyTo: replyChannel, nonce };
      const count = (told: number) => {
        missing += told;
        // Nobody told means that pub/sub failed us, not that nobody caches: we listen ourselves.
        if (told > 0 && missing === 0) resolve();
      };
      // Not awaited: a Redis that does not answer must not hold us beyond the bound.
      if (isListening) redis.publish(channel, JSON.stringify(message)).then(count, () => undefined);
      await allConfirmed;
      clearTimeout(bound);
      confirmations.removeAllListeners(nonce);
    },
    async close() {
      isListening = false;
      subscriber.disconnect();
    },
  };
}
