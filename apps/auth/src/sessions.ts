import { randomUUID } from 'node:crypto';
import type { ProjectConfig } from '@gatehouse/credentials';

/** The row of a session that begins now. */
export function newSession(project: ProjectConfig, nowMs: number) {
  const now = new Date(nowMs);
  return {
    id: randomUUID(),
    projectId: project.id,
    refreshedAt: now,
    createdAt: now,
    expiresAt: expiryOf(project, nowMs),
  };
}

/** A session ends when it was not refreshed for as long as the project says. */
export const expiryOf = (project: ProjectConfig, nowMs: number): Date =>
  new Date(nowMs + project.sessionTtlSeconds * 1000);
