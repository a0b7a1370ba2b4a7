import type { ProjectConfig } from '@gatehouse/credentials';
import { ApiError } from '@gatehouse/http';
import type { Request } from 'express';
import type { Deps } from './deps.ts';

/**
 * The project whose publishable key the request carries.
 * @throws {ApiError} `invalid_publishable_key`
 */
export async function projectOf(
  { credentials }: Pick<Deps, 'credentials'>,
  request: Request,
): Promise<ProjectConfig> {
  const project = await credentials.findProject(request.header('apikey'));
  if (!project) throw new ApiError('invalid_publishable_key');
  return project;
}
