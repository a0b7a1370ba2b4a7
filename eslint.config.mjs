import nx from '@nx/eslint-plugin';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['**/generated/**', '**/node_modules/**', '**/.gatehouse/**'] },
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts', '**/*.mjs'],
    plugins: { '@nx': nx },
    rules: {
      '@nx/enforce-module-boundaries': [
        'error',
        {
          enforceBuildableLibDependency: false,
          allow: [],
          depConstraints: [
            // A deployable stands alone: it is built from libs and never from another deployable.
            { sourceTag: 'type:app', onlyDependOnLibsWithTags: ['type:lib'] },
            { sourceTag: 'type:lib', onlyDependOnLibsWithTags: ['type:lib'] },
            { sourceTag: 'type:infra', onlyDependOnLibsWithTags: ['type:lib', 'type:infra'] },
            // What each lib may stand on. A new edge is a decision and is written here.
            { sourceTag: 'scope:http', onlyDependOnLibsWithTags: ['scope:http'] },
            { sourceTag: 'scope:database', onlyDependOnLibsWithTags: ['scope:database'] },
            { sourceTag: 'scope:secrets', onlyDependOnLibsWithTags: ['scope:secrets'] },
            { sourceTag: 'scope:queues', onlyDependOnLibsWithTags: ['scope:queues'] },
            { sourceTag: 'scope:tokens', onlyDependOnLibsWithTags: ['scope:tokens', 'scope:http'] },
            {
              sourceTag: 'scope:credentials',
              onlyDependOnLibsWithTags: ['scope:credentials', 'scope:database', 'scope:http'],
            },
          ],
        },
      ],
    },
  },
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'no-console': 'error',
    },
  },
  prettier,
);
