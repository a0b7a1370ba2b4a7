import { createService, plannedRoute } from '@gatehouse/http';
import type { Deps } from './deps.ts';
import { createKey } from './routes/create-key.ts';
import { createProject } from './routes/create-project.ts';
import { deleteKey } from './routes/delete-key.ts';
import { listKeys } from './routes/list-keys.ts';
import { listProjects } from './routes/list-projects.ts';

/** Account and keeper, in the order of interface section 4.5. */
export const createApp = (deps: Deps) =>
  createService({
    title: 'Account',
    prefix: '/api/user',
    log: deps.log,
    metrics: deps.metrics,
    health: deps.health,
    routes: [
      listProjects(deps),
      createProject(deps),
      listKeys(deps),
      createKey(deps),
      deleteKey(deps),
      plannedRoute('get', '/model-vendors', 'listModelVendors'),
      plannedRoute('put', '/model-vendors', 'setModelVendor'),
      plannedRoute('get', '/model-providers', 'listModelProviders'),
      plannedRoute('post', '/model-providers', 'createModelProvider'),
      plannedRoute('post', '/model-providers/payouts', 'createPayout'),
      plannedRoute('post', '/model-providers/:id/test', 'testModelProvider'),
    ],
  });
