import { PlainError } from './plain-error.ts';

export interface Keys {
  project_id: string;
  publishable_key: string;
  api_key: string;
}

export interface SeedOptions {
  baseUrl: string;
  /** Of the built-in console project: signing up there makes an account. */
  consoleKey: string;
  account: { email: string; password: string };
  /** Those of an earlier start. */
  known: Keys | undefined;
}

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

const projectName = 'My first project';

/** A first account with a project and a key, made through the product's own door. */
export async function seed(options: SeedOptions): Promise<Keys & { isNew: boolean }> {
  const { known } = options;
  if (known && (await stillWork(options.baseUrl, known))) return { ...known, isNew: false };
  const token = await signIn(options);
  const call = (method: string, path: string, body?: unknown) =>
    request(
      `${options.baseUrl}/api/user${path}`,
      method,
      { authorization: `Bearer ${token}` },
      body,
    );
  const project = (await findProject(call)) ?? (await makeProject(call));
  const key = expectStatus(201, await call('POST', '/keys', { name: 'default' }));
  return { ...project, api_key: text(key, 'key'), isNew: true };
}

async function stillWork(baseUrl: string, known: Keys): Promise<boolean> {
  const answers = await Promise.all([
    request(`${baseUrl}/api/v1/auth/settings`, 'GET', { apikey: known.publishable_key }),
    request(`${baseUrl}/api/user/projects`, 'GET', { 'x-api-key': known.api_key }),
  ]);
  return answers.every(({ status }) => status === 200);
}

/** The console access token of the account, which is made where there is none. */
async function signIn({ baseUrl, consoleKey, account }: SeedOptions): Promise<string> {
  const auth = (path: string) =>
    request(`${baseUrl}/api/v1/auth${path}`, 'POST', { apikey: consoleKey }, account);
  const signup = await auth('/signup');
  if (signup.status < 300) return text(signup, 'access_token');
  const session = await auth('/token?grant_type=password');
  if (session.status === 200) return text(session, 'access_token');
  throw new PlainError(
    `the first account could neither sign up (${describe(signup)}) nor sign in (${describe(session)})`,
  );
}

type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;
type Project = Pick<Keys, 'project_id' | 'publishable_key'>;

async function findProject(call: Call): Promise<Project | undefined> {
  const list = expectStatus(200, await call('GET', '/projects'));
  const data = Array.isArray(list.body.data) ? (list.body.data as Record<string, unknown>[]) : [];
  const found = data.find(({ name }) => name === projectName);
  return typeof found?.id === 'string' && typeof found.publishable_key === 'string'
    ? { project_id: found.id, publishable_key: found.publishable_key }
    : undefined;
}

/** Where the usual tools serve a page that is being developed. */
const origins = ['http://localhost:3000', 'http://localhost:5173'];
const returnsTo = (origin: string) => [`${origin}/`, `${origin}/auth/callback`];

async function makeProject(call: Call): Promise<Project> {
  const project = expectStatus(
    201,
    await call('POST', '/projects', {
      name: projectName,
      auth: { allowed_origins: origins, redirect_urls: origins.flatMap(returnsTo) },
    }),
  );
  return { project_id: text(project, 'id'), publishable_key: text(project, 'publishable_key') };
}

async function request(
  url: string,
  method: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  });
  const parsed: unknown = await response.json().catch(() => ({}));
  return { status: response.status, body: parsed as Record<string, unknown> };
}

function expectStatus(status: number, answer: Answer): Answer {
  if (answer.status === status) return answer;
  throw new PlainError(`the first project or key could not be made: ${describe(answer)}`);
}

function text({ body, status }: Answer, field: string): string {
  const value = body[field];
  if (typeof value === 'string') return value;
  throw new PlainError(`seed: an answer with status ${status} has no "${field}"`);
}

// Only what an error says: a good answer holds tokens.
const describe = ({ status, body }: Answer): string =>
  `${status} ${typeof body.code === 'string' ? body.code : ''} ${typeof body.error === 'string' ? body.error : ''}`.trim();
