export type { DevJson } from './dev-json.ts';
export { startHouse, type House, type HouseOptions } from './house.ts';
