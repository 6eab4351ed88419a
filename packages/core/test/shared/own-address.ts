// Over UDP a datagram may be lost while another process of its address goes (docs/decisions/0016-shared-addresses.md), and the
// files of a run come and go side by side: so each has an address of its own.
import process from 'node:process';

const part = (shift: number) => String((process.pid >> shift) & 255);
process.env['VERBS_SOFT'] ??= `soft0,addr=127.209.${part(8)}.${part(0)}`;
