import { compare, row, type Bench, type Load } from './load.ts';

/** A chat completion, asked of the sandbox vendor directly, of the gateway, and at the door. */
export async function benchGateway(house: Bench): Promise<string[]> {
  const body = {
    model: house.models.chat_completions,
    messages: [{ role: 'user', content: 'Say hello to the gatehouse.' }],
  };
  const at = (name: string, base: string | undefined, key: string): Load => ({
    name,
    url: `${base}/v1/chat/completions`,
    headers: { authorization: `Bearer ${key}` },
    body,
  });
  const loads = [
    at('sandbox vendor', house.services['sandbox-vendor']?.url, house.sandboxVendorKey),
    at('model gateway', house.services['model-gateway']?.url, house.api_key),
    at('gateway router, model gateway', house.base_url, house.api_key),
  ];
  const lines = [row('chat completion', 'req/s', 'p50 ms', 'p99 ms', '× direct')];
  for (const connections of [1, 32]) {
    const figures = await compare(loads, connections);
    for (const [index, { name }] of loads.entries()) {
      const { perSecond, p50Ms, p99Ms } = figures[index]!;
      const ratio = perSecond / figures[0]!.perSecond;
      lines.push(
        row(`  ${name}, c=${connections}`, Math.round(perSecond), p50Ms, p99Ms, ratio.toFixed(2)),
      );
    }
  }
  return lines;
}
