// A device that is opened, used and closed, for packages/core/test/programs/spawn-under-load.mjs.
import { dr, openDevice } from '../../dist/index.js';

export default function churn() {
  const ctx = openDevice('mlx5_soft0');
  const table = dr.createTable(dr.createDomain(ctx, dr.DomainType.NIC_RX), 1);
  dr.createRule(dr.createMatcher(table), undefined, [dr.createActionDrop(table.domain)]);
  ctx.close();
}
