import { sharedBut } from '../../vitest.shared.ts';

export default sharedBut('test/{abrupt,ipv6,neighbour,refusals,starting-psn}.test.ts');
