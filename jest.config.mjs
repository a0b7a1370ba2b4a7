/** One configuration for every project; Nx passes the project's folder as rootDir. */
export default {
  testMatch: ['<rootDir>/{src,test}/**/*.test.ts'],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': [
      import.meta.dirname + '/node_modules/@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2024' },
        module: { type: 'es6' },
      },
    ],
  },
  reporters: ['default', import.meta.dirname + '/infra/dev/src/jest-counts.mjs'],
  maxWorkers: 2,
  testTimeout: 20_000,
  passWithNoTests: true,
};
