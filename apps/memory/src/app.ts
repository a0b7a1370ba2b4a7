import { createService, plannedRoute, type ServiceOptions } from '@gatehouse/http';

export type Deps = Pick<ServiceOptions, 'log' | 'metrics' | 'health'>;

/** End-user memory: interface section 4.3. */
export const createApp = (deps: Deps) =>
  createService({
    title: 'Memory',
    prefix: '/api/v1/memory',
    routes: [
      plannedRoute('post', '/capture', 'captureMemory'),
      plannedRoute('post', '/retrieve', 'retrieveMemory'),
      plannedRoute(
        'post',
        '/functions/service_retrieve_end_user_memory',
        'serviceRetrieveEndUserMemory',
      ),
      plannedRoute('get', '/projects', 'listMemoryProjects'),
      plannedRoute('post', '/projects', 'createMemoryProject'),
      plannedRoute('get', '/projects/:projectKey', 'getMemoryProject'),
      plannedRoute('delete', '/projects/:projectKey', 'deleteMemoryProject'),
    ],
    ...deps,
  });
