import eslint from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(
  globalIgnores(['**/node_modules/', '**/dist/', '**/build/', '**/coverage/', '**/test-results/', '**/.turbo/']),
  eslint.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    // One program of the compiler for nearly all files: with one for each project the linter takes four times as long.
    languageOptions: {
      parserOptions: {
        project: ['tsconfig.json', 'packages/cli/browser/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      // Numbers in messages are what a message is for.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      // Flags are or-ed, and values come from C: the compiler lets numbers be values of enumerations, for that.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unsafe-enum-comparison': 'off',
      '@typescript-eslint/prefer-literal-enum-member': ['error', { allowBitwiseExpressions: true }],
      // Of the syntax that leaves code behind, only `enum` is used: see packages/core/src/enums/members.ts.
      '@typescript-eslint/parameter-properties': 'error',
      eqeqeq: 'error',
      // The compiler knows better, in the .mjs files too.
      'no-undef': 'off',
    },
  },
  {
    // The linter does not see the casts of JSDoc, the compiler does.
    files: ['**/*.mjs'],
    rules: {
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  // Plain programs that tests run in processes of their own, and those that only start what is built: they belong to no
  // TypeScript project.
  {
    files: [
      '**/test/programs/**/*.mjs',
      'trials/chaos/victims/**/*.mjs',
      '{examples,packages/cli,trials/bench}/bin/*.mjs',
      'tools/check/examples/*.ts',
      // What runs in a browser.
      'tools/site/browser/*.js',
    ],
    ...tseslint.configs.disableTypeChecked,
    // `programs`: tools/check/js.mjs gives the linter those that the compiler has checked.
    languageOptions: { parserOptions: { program: null, programs: null, project: false, projectService: false } },
  },
  {
    // What other processes say has no type.
    files: ['trials/chaos/src/**/*.mjs'],
    rules: {
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
    },
  },
  {
    // What peers, files and other programs say goes to the terminal through src/output.ts alone, which makes it harmless.
    files: ['packages/cli/src/**/*.ts'],
    ignores: ['packages/cli/src/output.ts'],
    rules: {
      'no-console': 'error',
      'no-restricted-imports': [
        'error',
        { paths: [{ name: 'node:util', importNames: ['styleText'], message: 'use paint() of output.ts' }] },
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector: "CallExpression[callee.property.name='write'][callee.object.property.name=/^std(out|err)$/]",
          message: 'use print(), note() and the others of output.ts: they make foreign text harmless',
        },
      ],
    },
  },
  {
    // And through browser/dom.ts alone to the page.
    files: ['packages/cli/browser/**/*.ts'],
    ignores: ['packages/cli/browser/dom.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'AssignmentExpression[left.property.name=/^(textContent|innerText|innerHTML|outerHTML|title)$/]',
          message: 'use html() or svg() of dom.ts: they make foreign text harmless',
        },
        {
          selector:
            'CallExpression[callee.property.name=/^(insertAdjacent.*|setAttribute.*|createContextualFragment|write)$/]',
          message: 'use html() or svg() of dom.ts: they make foreign text harmless',
        },
      ],
    },
  },
);
