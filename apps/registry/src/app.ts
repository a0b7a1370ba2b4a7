import { createService, plannedRoute, type ServiceOptions } from '@gatehouse/http';

export type Deps = Pick<ServiceOptions, 'log' | 'metrics' | 'health'>;

/** The service registry: interface section 4.4, with both of its base paths. */
export const createApp = (deps: Deps) =>
  createService({
    title: 'Service registry',
    prefix: '/api/v1/services',
    aliases: ['/api/v1/agents'],
    routes: [
      plannedRoute('get', '/', 'listServices'),
      plannedRoute('post', '/', 'createService'),
      plannedRoute('get', '/:id', 'getService'),
      plannedRoute('get', '/:id/metadata.json', 'getServiceMetadata'),
      plannedRoute('post', '/:id/dns/verify', 'verifyServiceDns'),
      plannedRoute('post', '/:id/erc8004/prepare-register', 'prepareRegister'),
      plannedRoute('post', '/:id/erc8004/confirm-register', 'confirmRegister'),
    ],
    ...deps,
  });
