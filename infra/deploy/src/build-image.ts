import { execFile } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  linkSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { delimiter } from 'node:path';
import { promisify } from 'node:util';
import dockerignore from '@balena/dockerignore';
import { expand, parseDockerfile, type Instruction } from './dockerfile.ts';

const run = promisify(execFile);

/** What a stage of a Dockerfile comes to, as a folder of this machine. */
export interface Image {
  /** The folder that stands for `/`. */
  root: string;
  workdir: string;
  env: Record<string, string>;
  /** `uid:gid`; undefined is root. */
  user: string | undefined;
  entrypoint: string[];
  command: string[];
  healthcheck: string[];
}

interface Stage extends Image {
  name: string;
  args: Record<string, string>;
}

export interface BuildOptions {
  /** The build context; the Dockerfile is `infra/Dockerfile` below it. */
  context: string;
  buildArgs: Record<string, string>;
  /** An empty folder, for this build alone. */
  folder: string;
  /** Stages of earlier builds that no build argument changes, by name. Filled as a build goes on. */
  cache: Map<string, Stage>;
}

/**
 * Carries out a Dockerfile without Docker: every COPY and RUN, in a folder per stage. What RUN
 * lines find besides (npm, find, sh) is this machine's own, on the Node that runs this.
 */
export async function buildImage(options: BuildOptions): Promise<Image> {
  const text = readFileSync(join(options.context, 'infra/Dockerfile'), 'utf8');
  const instructions = parseDockerfile(text);
  const global: Record<string, string> = {};
  const stages = new Map<string, Stage>();
  let last: Stage | undefined;
  for (const group of splitStages(instructions, global)) {
    const [from, ...steps] = group;
    last = await buildStage(from, steps, { ...options, global, stages });
  }
  if (!last) throw new Error('the Dockerfile has no stage');
  return last;
}

function splitStages(instructions: Instruction[], global: Record<string, string>) {
  const groups: [Instruction, ...Instruction[]][] = [];
  for (const instruction of instructions) {
    if (instruction.keyword === 'FROM') groups.push([instruction]);
    else if (groups.length > 0) groups.at(-1)?.push(instruction);
    else Object.assign(global, argument(instruction, {}));
  }
  return groups;
}

interface StageContext extends BuildOptions {
  global: Record<string, string>;
  stages: Map<string, Stage>;
}

async function buildStage(
  from: Instruction,
  steps: Instruction[],
  context: StageContext,
): Promise<Stage> {
  const [, image = '', name = 'final'] =
    /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(expand(from.rest, context.global)) ?? [];
  const isSameForAll = !steps.some(({ keyword }) => keyword === 'ARG');
  const known = context.cache.get(name);
  if (isSameForAll && known) {
    context.stages.set(name, known);
    return known;
  }
  const stage = startStage(name, image, context);
  for (const step of steps) await carryOut(step, stage, context);
  context.stages.set(name, stage);
  if (isSameForAll) context.cache.set(name, stage);
  return stage;
}

function startStage(name: string, image: string, { folder, stages }: StageContext): Stage {
  const root = join(folder, name);
  mkdirSync(root, { recursive: true });
  const parent = stages.get(image);
  if (parent) {
    cpSync(parent.root, root, { recursive: true, verbatimSymlinks: true });
    return { ...structuredClone(parent), name, root, args: {} };
  }
  // Of the base image, what is used: its Node, which is the one that runs this.
  placeNode(join(root, 'usr/local/bin/node'));
  const nothing = { user: undefined, entrypoint: [], command: [], healthcheck: [] };
  return { name, root, workdir: '/', env: {}, args: {}, ...nothing };
}

function placeNode(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  try {
    linkSync(process.execPath, path);
  } catch {
    copyFileSync(process.execPath, path);
  }
  chmodSync(path, 0o755);
}

async function carryOut(step: Instruction, stage: Stage, context: StageContext): Promise<void> {
  const values = { ...stage.args, ...stage.env };
  const { keyword, rest } = step;
  if (keyword === 'RUN') return runLine(rest, stage);
  if (keyword === 'COPY') return copy(step, stage, context);
  if (keyword === 'ARG') Object.assign(stage.args, argument(step, context.buildArgs));
  else if (keyword === 'ENV') Object.assign(stage.env, pair(expand(rest, values)));
  else if (keyword === 'WORKDIR') {
    stage.workdir = resolve(stage.workdir, expand(rest, values));
    mkdirSync(join(stage.root, stage.workdir), { recursive: true });
  } else if (keyword === 'USER') stage.user = rest;
  else if (keyword === 'ENTRYPOINT') stage.entrypoint = words(rest);
  else if (keyword === 'CMD') stage.command = words(rest);
  else if (keyword === 'HEALTHCHECK') stage.healthcheck = words(rest.replace(/^CMD\s+/, ''));
  else if (keyword !== 'EXPOSE') throw new Error(`the try-out does not know ${keyword}`);
}

function argument({ rest }: Instruction, given: Record<string, string>): Record<string, string> {
  const [, name = '', fallback] = /^(\w+)(?:=(.*))?$/.exec(rest) ?? [];
  const value = given[name] ?? fallback;
  return value === undefined ? {} : { [name]: value };
}

function pair(text: string): Record<string, string> {
  const [, name, value] = /^(\w+)=(\S+)$/.exec(text) ?? [];
  if (!name || !value) throw new Error(`ENV: one NAME=value per line, not ${text}`);
  return { [name]: value };
}

/** Only the exec form: with a shell in between, no signal reaches the app. */
const words = (text: string): string[] => JSON.parse(text) as string[];

async function runLine(line: string, stage: Stage): Promise<void> {
  // There is no container around it.
  if (/(^|[\s="'])\/(?!bin\/|dev\/null)/.test(line)) {
    throw new Error(`RUN names a path of this machine: ${line}`);
  }
  const env = {
    PATH: [join(stage.root, 'usr/local/bin'), process.env.PATH].join(delimiter),
    HOME: process.env.HOME,
    npm_config_prefer_offline: 'true',
    ...stage.args,
    ...stage.env,
  };
  try {
    await run('/bin/sh', ['-c', line], { cwd: join(stage.root, stage.workdir), env });
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new Error(`RUN ${line}\n${stderr ?? String(error)}`);
  }
}

function copy({ rest, flags }: Instruction, stage: Stage, context: StageContext): void {
  const paths = expand(rest, { ...stage.args, ...stage.env }).split(/\s+/);
  const target = paths.pop() ?? '';
  const to = join(stage.root, resolve(stage.workdir, target));
  const source = flags.from === undefined ? undefined : context.stages.get(flags.from);
  if (flags.from !== undefined && !source) throw new Error(`COPY from unknown ${flags.from}`);
  for (const path of paths) {
    if (source) copyAll(join(source.root, path), to, target);
    else copyFromContext(context.context, path, to, target);
  }
}

/** A folder's content goes into the target; a file into it or over it, as Docker has it. */
function copyAll(from: string, to: string, target: string, filter = (_path: string) => true) {
  const isFile = statSync(from).isFile();
  const isInto = isFile && (/(^|\/)\.?$/.test(target) || isFolder(to));
  cpSync(from, isInto ? join(to, basename(from)) : to, {
    recursive: true,
    verbatimSymlinks: true,
    filter,
  });
}

function copyFromContext(context: string, path: string, to: string, target: string): void {
  const from = join(context, path);
  if (statSync(from).isFile()) return copyAll(from, to, target);
  for (const file of contextFiles(context, path)) {
    const place = join(to, file.slice(path === '.' ? 0 : path.length + 1));
    mkdirSync(dirname(place), { recursive: true });
    cpSync(join(context, file), place, { verbatimSymlinks: true });
  }
}

/** The files below the folder that .dockerignore lets into the build. */
export function contextFiles(context: string, folder = '.'): string[] {
  const ignore = dockerignore.default().add(readFileSync(join(context, '.dockerignore'), 'utf8'));
  const walk = (path: string): string[] =>
    readdirSync(join(context, path), { withFileTypes: true }).flatMap((entry) => {
      const below = join(path, entry.name);
      // Large, and never part of a build.
      if (entry.name === 'node_modules' || entry.name === '.git') return [];
      if (entry.isDirectory()) return walk(below);
      return ignore.ignores(below) ? [] : [below];
    });
  return walk(folder);
}

const isFolder = (path: string) =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
