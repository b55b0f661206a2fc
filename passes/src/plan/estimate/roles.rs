//! Figures of plans by which warps have roles. Where nothing else is said they, and those of warps above, were fitted to the times of 14,000 plans of 325 shapes on an H200
//! (`docs/performance/choice.md`).

/// Picoseconds of a cycle under load.
pub(super) const CYCLE: i64 = 510;
/// Thousandths of a cycle for each 128 bytes that shared memory gives or takes.
pub(super) const SHARED: i64 = 800;
/// Picoseconds for 128 bytes from L2, of lines that begin at multiples of 128 bytes, and of others, which touch two of L2's.
pub(super) const LINE: [i64; 2] = [720, 1_580];
/// The same for each run of less than 128 bytes, of a tile that lies along M or N and whose extent there is no multiple of that: fitted to ten plans of five products whose B lies
/// along N, by tiles of 96 and 160 columns, on an H200.
pub(super) const RUN: [i64; 2] = [900, 1_400];
/// Hundredths of that which lines take where blocks of one warpgroup have them for themselves: then the next kernel starts late, and neighbours ask for the same lines at the same time. Not of
/// parts of K, which few blocks have in common, so that most lines come from memory: six products on an H200 take 2 to 16 % less by the plans that are chosen so.
pub(super) const LINE_OF_NEIGHBOURS: i64 = 60;
/// Hundredths of the time of whole lines that such blocks take longer for each of their first turns where lines of A or B begin elsewhere than at multiples of 128 bytes: fitted
/// to 450 plans of eight problems, in which those of two warpgroups, of as many lines, were faster by 1.2 us of 9, and no slower with more turns.
pub(super) const NEIGHBOURS_ELSEWHERE: i64 = 60;
/// The number of those turns.
pub(super) const FIRST_TURNS: i64 = 16;
/// The same of products of groups of rows: few tiles read the same lines of B, and most come from memory. Fitted to 60 plans of three problems on an H200.
pub(super) const LINE_OF_GROUPS: i64 = 153;
/// Picoseconds for 128 bytes of a line outside of A or B, which TMA fills with zeros: all of a chip come from one place, one after the other.
pub(super) const OUTSIDE: i64 = 48;
/// Picoseconds from the request of a tile of A and B by TMA to its arrival.
pub(super) const LATENCY: i64 = 690_000;
/// The same, where it arrives in several blocks and is asked for when all of them are done with its place.
pub(super) const LATENCY_OF_CLUSTER: i64 = 1_170_000;
/// Picoseconds of a turn, at least, where blocks share loads: each asks the others for room, and they tell each other what they are done with.
pub(super) const TURN_OF_CLUSTER: i64 = 180_000;
/// Hundredths of the second of the three times that a turn takes beside the longest.
pub(super) const SECOND: i64 = 45;
/// Picoseconds of a tile beside its turns.
pub(super) const TILE: i64 = 139_000;
/// Picoseconds of a tile beside its turns, for each warpgroup beyond the first.
pub(super) const GROUP: i64 = 353_000;
/// Picoseconds in which a warpgroup brings 1024 sums out.
pub(super) const SUMS: i64 = 134_000;
/// Picoseconds of a turn that computes what is multiplied in registers, at least, beside its products. It and the next two were fitted to 1,112 plans of 24 products of
/// weights of bytes with a scale for each column, on an H200.
pub(super) const COMPUTED_TURN: i64 = 175_000;
/// Picoseconds of such a turn for each 1024 elements that are computed.
pub(super) const COMPUTED: i64 = 9_600;
/// Picoseconds that such a turn takes longer where it reads a number of a row, as of products of 16 rows.
pub(super) const READ_GROUPS: i64 = 140_000;
/// The same where it reads one for each element along K.
pub(super) const READ_ALL: i64 = 450_000;
/// Picoseconds of the kernel that adds parts of C up where that lies by columns, beside its bytes.
pub(super) const ADDED_BY_COLUMNS: i64 = 2_800_000;
/// Picoseconds that are not waited for each column of C where its parts go out through several tiles in shared memory: 0.36 us of a tile of 128 x 256, 0.19 of 256 x 128
/// and 192 x 192.
pub(super) const COLUMN_AHEAD: i64 = 1_400;
/// Picoseconds from the last product of one team to the first of the next.
pub(super) const HANDOVER: i64 = 200_000;
/// Picoseconds in which blocks of a cluster tell each other that they are done, and have, and may have more.
pub(super) const EXCHANGE: i64 = 1_290_000;
/// Picoseconds for 1024 sums that a block sends to others of its cluster.
pub(super) const EXCHANGED: i64 = 39_000;
/// Hundredths of a tile's time beside its turns that are left where another team multiplies.
pub(super) const BESIDE_OTHERS: i64 = 65;
/// Hundredths of an epilogue's time that are left where another team multiplies.
pub(super) const EPILOGUE_BESIDE_OTHERS: i64 = 28;
/// Picoseconds for a bit of a matrix that an epilogue reads or writes, a multiprocessor's share of memory.
pub(super) const BIT: i64 = 4;
/// Hundredths of the time of a turn's products that it takes where a chip is at the limit of its power, whatever brings its lines: its clock is lower, and that of memory is
/// not. Fitted to 64 plans of eight shapes of 175 us and more, in turns with one another.
pub(super) const HOT: i64 = 152;
/// Picoseconds until a chip is at its limit.
pub(super) const SHORT: i64 = 20_000_000;
/// Millionths of that time for each millionth of the lines that a tile brings into shared memory for each element of C, beyond those of a tile of 128 x 256, or less than
/// those. Half of what kernels take that run for a second each; in turns with others all have the same clock.
pub(super) const POWER_OF_LINE: i64 = 10;
/// Millionths of those lines.
pub(super) const LINES: i64 = 11_719;
/// Picoseconds of a kernel beside its blocks, in a row of kernels.
pub(super) const START: i64 = 600_000;
/// Picoseconds that clusters take longer to start and to end.
pub(super) const CLUSTER: i64 = 960_000;
