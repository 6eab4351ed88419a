import { sharedBut } from '../../vitest.shared.ts';

export default sharedBut('test/{diagnostics,native-arguments,refused-destroy}.test.ts');
