import { route } from '@gatehouse/http';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { maxPasswordLength } from '../password-policy.ts';
import { projectOf } from '../project.ts';

const settingsBody = z
  .object({
    signup_enabled: z.boolean(),
    email: z.object({ enabled: z.boolean(), confirmation_required: z.boolean() }),
    password: z.object({
      min_length: z.int(),
      max_length: z.int(),
      required: z.array(z.enum(['lowercase', 'uppercase', 'digit', 'symbol'])).meta({
        description: 'Character classes of which a password needs at least one each.',
      }),
    }),
    providers: z.array(z.object({ id: z.string(), name: z.string(), enabled: z.boolean() })),
  })
  .meta({ id: 'Settings' });

export const getSettings = (deps: Deps) =>
  route({
    method: 'get',
    path: '/settings',
    operation: 'getSettings',
    summary: 'Which ways to sign in the project offers, and what it asks of a password.',
    credentials: ['publishableKey'],
    responses: { 200: { description: 'The settings.', body: settingsBody } },
    errors: ['invalid_publishable_key'],
    handle: async ({ request }) => {
      const project = await projectOf(deps, request);
      return {
        status: 200,
        headers: { 'Cache-Control': 'private, max-age=60', Vary: 'Origin, apikey' },
        body: {
          signup_enabled: project.signupEnabled,
          email: {
            enabled: project.emailEnabled,
            confirmation_required: project.confirmationRequired,
          },
          password: {
            min_length: project.passwordMinLength,
            max_length: maxPasswordLength,
            required: project.passwordRequired as z.input<
              typeof settingsBody
            >['password']['required'],
          },
          providers: [],
        },
      };
    },
  });
