/** What an API key can open; each group asks for its own. */
export const scopes = ['models', 'memory', 'registry', 'account'] as const;

export type Scope = (typeof scopes)[number];
