import { randomUUID } from 'node:crypto';
import { createKey } from '@gatehouse/credentials';
import { route } from '@gatehouse/http';
import { z } from 'zod';
import { callerErrors, callerOf } from '../caller.ts';
import type { Deps } from '../deps.ts';
import { authSettingsField, columnsOf, projectBody, renderProject } from '../project.ts';

export const createProject = (deps: Deps) =>
  route({
    method: 'post',
    path: '/projects',
    operation: 'createProject',
    summary: 'Make a project, with a publishable key for its pages.',
    credentials: ['apiKey', 'consoleAccessToken'],
    body: z.strictObject({
      name: z.string().trim().min(1).max(100),
      auth: authSettingsField.prefault({}),
    }),
    responses: { 201: { description: 'The project.', body: projectBody } },
    errors: callerErrors,
    handle: async ({ request, body }) => {
      const { accountId } = await callerOf(deps, request);
      const project = await deps.db.project.create({
        data: {
          id: `prj_${randomUUID().replaceAll('-', '')}`,
          accountId,
          name: body.name,
          publishableKey: createKey('pub'),
          createdAt: new Date(deps.now()),
          ...columnsOf(body.auth),
        },
      });
      return { status: 201, body: renderProject(project) };
    },
  });
