/** What an API key can open; each group asks for its own. */
export const scopes = ['models', 'memory', 'registry', 'account'] as const;

export type Scope = (typeof scopes)[number];

/** The two kinds of API keys: `gh_live_…` and `gh_test_…`. */
export const keyModes = ['live', 'test'] as const;

export type KeyMode = (typeof keyModes)[number];
