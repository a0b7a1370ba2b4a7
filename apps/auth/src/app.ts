import { createService, plannedRoute } from '@gatehouse/http';
import { Gauge } from 'prom-client';
import { echoSupabaseVersion } from './compatibility.ts';
import { cors } from './cors.ts';
import type { Deps } from './deps.ts';
import { createToken } from './routes/create-token.ts';
import { getJwks } from './routes/get-jwks.ts';
import { getSettings } from './routes/get-settings.ts';
import { getUser } from './routes/get-user.ts';
import { logOut } from './routes/log-out.ts';
import { signUp } from './routes/sign-up.ts';

/** Project authentication, in the order of interface section 4.1. */
export function createApp(deps: Deps) {
  new Gauge({
    name: 'password_hashes_in_progress',
    help: 'Password hashes under way and waiting.',
    registers: [deps.metrics],
    collect() {
      this.set(deps.passwords.load);
    },
  });
  return createService({
    title: 'Project authentication',
    prefix: '/api/v1/auth',
    log: deps.log,
    metrics: deps.metrics,
    health: deps.health,
    before: [cors(deps), echoSupabaseVersion],
    routes: [
      getSettings(deps),
      signUp(deps),
      createToken(deps),
      getUser(deps),
      logOut(deps),
      plannedRoute('post', '/recover', 'recover'),
      plannedRoute('post', '/password/reset', 'resetPassword'),
      getJwks(deps),
      plannedRoute('get', '/providers/:provider/authorize', 'authorizeWithProvider'),
      plannedRoute('post', '/providers/token', 'exchangeProviderCode'),
      plannedRoute('get', '/oauth/authorize', 'authorize'),
      plannedRoute('post', '/oauth/authorize', 'decideAuthorization'),
      plannedRoute('post', '/oauth/token', 'createOAuthToken'),
      plannedRoute('get', '/oauth/userinfo', 'getUserInfo'),
    ],
  });
}
