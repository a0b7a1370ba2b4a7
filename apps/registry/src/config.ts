import { serverEnvironment } from '@gatehouse/http';

export const environment = serverEnvironment;
