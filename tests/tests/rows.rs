//! One row per rule of the specification. The values are calculated by hand and run on the model, the RTL,
//! and both in lockstep, with the oracle.
//!
//! The tables cover operations (spec 1.1, 3, 3.5, 5.1 to 5.3), addresses (spec 2.1, 2.2), faults (spec 2.4, 2.6, 3.3,
//! 1.4), allocations (spec 1.3, 1.4), passes (spec 4), order (spec 4.2) and the cluster port (spec 1.4, 7.5).

use atoms_cosim::case::Case;
use atoms_ops::{Fault, Op, Size};
use atoms_stimulus::request::{AllocationWrite, ClusterRequest, Lane, WarpRequest};
use atoms_tests::bench::{Bench, CaseAnswers};
use atoms_tests::rows::each_row;
use atoms_tests::{config, rows, test_each};

use Op::{Add, And, Cas, Cast, CastSpin, Dec, Exch, Inc, Load, Max, Min, Or, PopcInc, Store, Xor};
use Size::{B128, S8, S16, S32, U8, U16, U32, U64};

/// Address, Rb and Rc of a lane.
type L = (u32, u128, u128);
/// Byte address and value of a word.
type W = (u32, u32);
/// Values of `red`: true if Rd is RZ.
const RZ: bool = true;
const RD: bool = false;

/// Request and its effect. Words that a row does not name are zero before and after.
struct OperationRow {
    rule: &'static str,
    op: Op,
    size: Size,
    /// True if Rd is RZ.
    red: bool,
    /// Lanes from lane 0 on.
    lanes: &'static [L],
    before: &'static [W],
    rd: &'static [u128],
    /// Predicates as a lane mask.
    pred: u32,
    after: &'static [W],
    passes: u8,
}

const MAX: u32 = 0xffff_ffff;
const TOP: u32 = 0x8000_0000;
const MAXS: u32 = 0x7fff_ffff;
/// Bit 0 of words 1 to 3 of a wide operand.
const W1: u128 = 1 << 32;
const W2: u128 = 1 << 64;
const W3: u128 = 1 << 96;

const OPERATIONS: &[OperationRow] = rows! {
    OperationRow { rule, op, size, red, lanes, before, rd, pred, after, passes }
    // 3 ADD
    ("add adds",                               Add, U32, RD, &[(0, 5, 0)],                          &[(0, 7)],          &[7],              0, &[(0, 12)],         1),
    ("add wraps modulo 2^32",                  Add, U32, RD, &[(0, 1, 0)],                          &[(0, MAX)],        &[MAX as u128],    0, &[(0, 0)],          1),
    ("add.s32 is the same sum",                Add, S32, RD, &[(4, MAX as u128, 0)],                &[(4, TOP)],        &[TOP as u128],    0, &[(4, MAXS)],       1),
    ("only the low word of Rb adds",           Add, U32, RD, &[(0, W1 | 1, W1)],                    &[(0, 1)],          &[1],              0, &[(0, 2)],          1),
    ("lanes of one word add one by one",       Add, U32, RD, &[(8, 1, 0), (8, 2, 0), (8, 4, 0)],    &[(8, 10)],         &[10, 11, 13],     0, &[(8, 17)],         3),
    ("RZ: all is done, nothing is given",      Add, U32, RZ, &[(8, 1, 0), (8, 2, 0), (8, 4, 0)],    &[(8, 10)],         &[0, 0, 0],        0, &[(8, 17)],         3),
    ("neighbours are left alone",              Add, U32, RD, &[(4, 1, 0)],                          &[(0, 7), (4, 8), (8, 9)], &[8],       0, &[(0, 7), (4, 9), (8, 9)], 1),

    // 3 MIN, MAX
    ("min.u32 orders as unsigned",             Min, U32, RD, &[(0, TOP as u128, 0)],                &[(0, MAXS)],       &[MAXS as u128],   0, &[(0, MAXS)],       1),
    ("min.s32 orders as signed",               Min, S32, RD, &[(0, TOP as u128, 0)],                &[(0, MAXS)],       &[MAXS as u128],   0, &[(0, TOP)],        1),
    ("min.u32 takes the lesser operand",       Min, U32, RD, &[(0, 0, 0)],                          &[(0, MAX)],        &[MAX as u128],    0, &[(0, 0)],          1),
    ("min.s32 keeps -1 below 0",               Min, S32, RD, &[(0, 0, 0)],                          &[(0, MAX)],        &[MAX as u128],    0, &[(0, MAX)],        1),
    ("min of equals keeps them",               Min, S32, RD, &[(0, TOP as u128, 0)],                &[(0, TOP)],        &[TOP as u128],    0, &[(0, TOP)],        1),
    ("min chains over lanes",                  Min, U32, RD, &[(0, 6, 0), (0, 9, 0), (0, 3, 0)],    &[(0, 8)],          &[8, 6, 6],        0, &[(0, 3)],          3),
    ("max.u32 orders as unsigned",             Max, U32, RD, &[(0, TOP as u128, 0)],                &[(0, MAXS)],       &[MAXS as u128],   0, &[(0, TOP)],        1),
    ("max.s32 orders as signed",               Max, S32, RD, &[(0, TOP as u128, 0)],                &[(0, MAXS)],       &[MAXS as u128],   0, &[(0, MAXS)],       1),
    ("max.u32 keeps the greatest",             Max, U32, RD, &[(0, 0, 0)],                          &[(0, MAX)],        &[MAX as u128],    0, &[(0, MAX)],        1),
    ("max.s32 takes 0 over -1",                Max, S32, RD, &[(0, 0, 0)],                          &[(0, MAX)],        &[MAX as u128],    0, &[(0, 0)],          1),
    ("max chains over lanes",                  Max, S32, RD, &[(0, 6, 0), (0, MAX as u128, 0), (0, 9, 0)], &[(0, 8)],   &[8, 8, 8],        0, &[(0, 9)],          3),

    // 3 INC, DEC
    ("inc counts up below the bound",          Inc, U32, RD, &[(0, 4, 0)],                          &[(0, 3)],          &[3],              0, &[(0, 4)],          1),
    ("inc wraps at the bound",                 Inc, U32, RD, &[(0, 4, 0)],                          &[(0, 4)],          &[4],              0, &[(0, 0)],          1),
    ("inc wraps above the bound",              Inc, U32, RD, &[(0, 4, 0)],                          &[(0, 5)],          &[5],              0, &[(0, 0)],          1),
    ("inc with bound 0 stays at 0",            Inc, U32, RD, &[(0, 0, 0)],                          &[(0, 0)],          &[0],              0, &[(0, 0)],          1),
    ("inc's bound is unsigned",                Inc, U32, RD, &[(0, MAX as u128, 0)],                &[(0, TOP)],        &[TOP as u128],    0, &[(0, TOP + 1)],    1),
    ("inc reaches the greatest bound",         Inc, U32, RD, &[(0, MAX as u128, 0)],                &[(0, MAX - 1)],    &[MAX as u128 - 1], 0, &[(0, MAX)],       1),
    ("inc wraps at the greatest bound",        Inc, U32, RD, &[(0, MAX as u128, 0)],                &[(0, MAX)],        &[MAX as u128],    0, &[(0, 0)],          1),
    ("inc goes round over lanes",              Inc, U32, RD, &[(0, 1, 0), (0, 1, 0), (0, 1, 0)],    &[],                &[0, 1, 0],        0, &[(0, 1)],          3),
    ("dec counts down",                        Dec, U32, RD, &[(0, 9, 0)],                          &[(0, 3)],          &[3],              0, &[(0, 2)],          1),
    ("dec at the limit counts down",           Dec, U32, RD, &[(0, 3, 0)],                          &[(0, 3)],          &[3],              0, &[(0, 2)],          1),
    ("dec above the limit falls to it",        Dec, U32, RD, &[(0, 3, 0)],                          &[(0, 4)],          &[4],              0, &[(0, 3)],          1),
    ("dec at 0 goes to the limit",             Dec, U32, RD, &[(0, 3, 0)],                          &[],                &[0],              0, &[(0, 3)],          1),
    ("dec's limit is unsigned",                Dec, U32, RD, &[(0, MAX as u128, 0)],                &[(0, TOP)],        &[TOP as u128],    0, &[(0, MAXS)],       1),
    ("dec with limit 0 stays at 0",            Dec, U32, RD, &[(0, 0, 0)],                          &[(0, 1)],          &[1],              0, &[(0, 0)],          1),
    ("dec goes round over lanes",              Dec, U32, RD, &[(0, 1, 0), (0, 1, 0), (0, 1, 0)],    &[],                &[0, 1, 0],        0, &[(0, 1)],          3),

    // 3 AND, OR, XOR
    ("and",                                    And, U32, RD, &[(0, 0xff00_ff00, 0)],                &[(0, 0xf0f0_f0f0)], &[0xf0f0_f0f0],   0, &[(0, 0xf000_f000)], 1),
    ("or",                                     Or,  U32, RD, &[(0, 0xff00_ff00, 0)],                &[(0, 0xf0f0_f0f0)], &[0xf0f0_f0f0],   0, &[(0, 0xfff0_fff0)], 1),
    ("xor",                                    Xor, U32, RD, &[(0, 0xff00_ff00, 0)],                &[(0, 0xf0f0_f0f0)], &[0xf0f0_f0f0],   0, &[(0, 0x0ff0_0ff0)], 1),
    ("and.s32",                                And, S32, RD, &[(0, TOP as u128, 0)],                &[(0, MAX)],        &[MAX as u128],    0, &[(0, TOP)],        1),
    ("or.s32",                                 Or,  S32, RD, &[(0, TOP as u128, 0)],                &[(0, 1)],          &[1],              0, &[(0, TOP + 1)],    1),
    ("xor.s32",                                Xor, S32, RD, &[(0, MAX as u128, 0)],                &[(0, 1)],          &[1],              0, &[(0, MAX - 1)],    1),

    // 3 EXCH
    ("exch gives the old, leaves Rb",          Exch, U32,  RD, &[(0, 5, 9)],                        &[(0, 7)],          &[7],              0, &[(0, 5)],          1),
    ("exch.s32",                               Exch, S32,  RD, &[(0, TOP as u128, 0)],              &[(0, MAX)],        &[MAX as u128],    0, &[(0, TOP)],        1),
    ("exch hands values from lane to lane",    Exch, U32,  RD, &[(0, 5, 0), (0, 6, 0), (0, 7, 0)],  &[(0, 4)],          &[4, 5, 6],        0, &[(0, 7)],          3),
    ("exch.64 moves both words",               Exch, U64,  RD, &[(8, 5 + 6 * W1 + W2, 0)],          &[(8, 1), (12, 2)], &[1 + 2 * W1],     0, &[(8, 5), (12, 6)], 1),
    ("exch.64 hands pairs from lane to lane",  Exch, U64,  RD, &[(8, 5 * W1, 0), (8, 6 * W1, 0)],   &[(12, 4)],         &[4 * W1, 5 * W1], 0, &[(12, 6)],         2),
    ("exch.128 moves four words",              Exch, B128, RD, &[(16, 5 + 6 * W1 + 7 * W2 + 8 * W3, 0)], &[(16, 1), (20, 2), (24, 3), (28, 4)], &[1 + 2 * W1 + 3 * W2 + 4 * W3], 0, &[(16, 5), (20, 6), (24, 7), (28, 8)], 1),

    // 3 CAS
    ("cas hit stores Rc and gives the old",    Cas, U32,  RD, &[(0, 7, 9)],                         &[(0, 7)],          &[7],              1, &[(0, 9)],          1),
    ("cas miss keeps the word",                Cas, U32,  RD, &[(0, 8, 9)],                         &[(0, 7)],          &[7],              0, &[(0, 7)],          1),
    ("cas.s32",                                Cas, S32,  RD, &[(0, TOP as u128, 1)],               &[(0, TOP)],        &[TOP as u128],    1, &[(0, 1)],          1),
    ("cas compares the size only",             Cas, U32,  RD, &[(0, W1 | 7, W1 | 9)],               &[(0, 7)],          &[7],              1, &[(0, 9)],          1),
    ("cas: one of equal lanes stores",         Cas, U32,  RD, &[(0, 0, 1), (0, 0, 2), (0, 0, 3)],   &[],                &[0, 1, 1],        1, &[(0, 1)],          3),
    ("cas: each lane sees the one before",     Cas, U32,  RD, &[(0, 0, 1), (0, 1, 2), (0, 2, 3)],   &[],                &[0, 1, 2],        7, &[(0, 3)],          3),
    ("cas without Rd still stores",            Cas, U32,  RZ, &[(0, 7, 9)],                         &[(0, 7)],          &[0],              1, &[(0, 9)],          1),
    ("cas.64 hit",                             Cas, U64,  RD, &[(0, 7 + 8 * W1, 1 + 2 * W1)],       &[(0, 7), (4, 8)],  &[7 + 8 * W1],     1, &[(0, 1), (4, 2)],  1),
    ("cas.64 compares the low word",           Cas, U64,  RD, &[(0, 6 + 8 * W1, 1 + 2 * W1)],       &[(0, 7), (4, 8)],  &[7 + 8 * W1],     0, &[(0, 7), (4, 8)],  1),
    ("cas.64 compares the high word",          Cas, U64,  RD, &[(0, 7 + 9 * W1, 1 + 2 * W1)],       &[(0, 7), (4, 8)],  &[7 + 8 * W1],     0, &[(0, 7), (4, 8)],  1),
    ("cas.128 hit",                            Cas, B128, RD, &[(0, 1 + 2 * W1 + 3 * W2 + 4 * W3, 5 + 6 * W1 + 7 * W2 + 8 * W3)], &[(0, 1), (4, 2), (8, 3), (12, 4)], &[1 + 2 * W1 + 3 * W2 + 4 * W3], 1, &[(0, 5), (4, 6), (8, 7), (12, 8)], 1),
    ("cas.128 compares word 0",                Cas, B128, RD, &[(0, 1, 5)],                         &[],                &[0],              0, &[],                1),
    ("cas.128 compares word 1",                Cas, B128, RD, &[(0, W1, 5)],                        &[],                &[0],              0, &[],                1),
    ("cas.128 compares word 2",                Cas, B128, RD, &[(0, W2, 5)],                        &[],                &[0],              0, &[],                1),
    ("cas.128 compares word 3",                Cas, B128, RD, &[(0, W3, 5)],                        &[],                &[0],              0, &[],                1),

    // 3 CAST, 3.2
    ("cast gives 1 when it stored",            Cast, U32, RD, &[(0, 7, 9)],                         &[(0, 7)],          &[1],              1, &[(0, 9)],          1),
    ("cast gives 0 when it did not",           Cast, U32, RD, &[(0, 8, 9)],                         &[(0, 7)],          &[0],              0, &[(0, 7)],          1),
    ("cast.s32",                               Cast, S32, RD, &[(0, MAX as u128, 9)],               &[(0, MAX)],        &[1],              1, &[(0, 9)],          1),
    ("cast.64 gives {1, 0}",                   Cast, U64, RD, &[(0, 7 + 8 * W1, 1 + 2 * W1)],       &[(0, 7), (4, 8)],  &[1],              1, &[(0, 1), (4, 2)],  1),
    ("cast.64 gives {0, 0}",                   Cast, U64, RD, &[(0, 7 + 9 * W1, 1 + 2 * W1)],       &[(0, 7), (4, 8)],  &[0],              0, &[(0, 7), (4, 8)],  1),
    ("cast: each lane sees the one before",    Cast, U32, RD, &[(0, 0, 1), (0, 0, 2), (0, 1, 3)],   &[],                &[1, 0, 1],        5, &[(0, 3)],          3),
    ("cast with RZ gives the predicate alone", Cast, U32, RZ, &[(0, 0, 1)],                         &[],                &[0],              1, &[(0, 1)],          1),

    // 5 CAST.SPIN
    ("spin: one lane of a word stores",        CastSpin, U32, RD, &[(0, 0, 1), (0, 0, 2), (0, 0, 3)], &[],              &[1, 0, 0],        1, &[(0, 1)],          1),
    ("spin: losers fail whatever they name",   CastSpin, U32, RD, &[(0, 0, 1), (128, 0, 2)],        &[],                &[1, 0],           1, &[(0, 1)],          1),
    ("spin: losers fail though they would hit", CastSpin, U32, RD, &[(0, 5, 1), (128, 0, 2)],       &[],                &[0, 0],           0, &[],                1),
    ("spin: a selected lane that misses gives 0", CastSpin, U32, RD, &[(0, 5, 1)],                  &[(0, 7)],          &[0],              0, &[(0, 7)],          1),
    ("spin: each bank has its own winner",     CastSpin, U32, RD, &[(0, 0, 1), (4, 0, 2), (128, 0, 3), (132, 0, 4)], &[], &[1, 1, 0, 0],  3, &[(0, 1), (4, 2)],  1),
    ("spin.s32",                               CastSpin, S32, RD, &[(0, TOP as u128, 1)],           &[(0, TOP)],        &[1],              1, &[(0, 1)],          1),
    ("spin.64: groups are pairs of banks",     CastSpin, U64, RD, &[(0, 0, W1), (8, 0, 2), (128, 0, 3)], &[],           &[1, 1, 0],        3, &[(4, 1), (8, 2)],  1),
    ("spin.64 compares the high word",         CastSpin, U64, RD, &[(0, 5 * W1, 1)],                &[(4, 6)],          &[0],              0, &[(4, 6)],          1),
    ("spin with RZ gives the predicate alone", CastSpin, U32, RZ, &[(0, 0, 1), (0, 0, 2)],          &[],                &[0, 0],           1, &[(0, 1)],          1),

    // 3 POPC.INC
    ("popc.inc adds the lanes of a word",      PopcInc, U32, RZ, &[(0, 9, 9), (0, 9, 9), (0, 9, 9), (4, 9, 9)], &[(0, 5)], &[0, 0, 0, 0],  0, &[(0, 8), (4, 1)],  1),
    ("popc.inc gives nothing",                 PopcInc, U32, RD, &[(0, 0, 0), (0, 0, 0)],           &[(0, 5)],          &[0, 0],           0, &[(0, 7)],          1),
    ("popc.inc wraps modulo 2^32",             PopcInc, U32, RZ, &[(0, 0, 0), (0, 0, 0)],           &[(0, MAX)],        &[0, 0],           0, &[(0, 1)],          1),
    ("popc.inc counts each address apart",     PopcInc, U32, RZ, &[(0, 0, 0), (128, 0, 0), (0, 0, 0)], &[],             &[0, 0, 0],        0, &[(0, 2), (128, 1)], 2),

    // 1.1, 3.5 loads
    ("lds.u8 takes each byte, low first",      Load, U8,  RD, &[(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0)], &[(0, 0x84c3_4281)], &[0x81, 0x42, 0xc3, 0x84], 0, &[(0, 0x84c3_4281)], 1),
    ("lds.s8 extends the sign to 32 bits",     Load, S8,  RD, &[(0, 0, 0), (1, 0, 0), (3, 0, 0)],   &[(0, 0x84c3_4281)], &[0xffff_ff81, 0x42, 0xffff_ff84], 0, &[(0, 0x84c3_4281)], 1),
    ("lds.u16 takes each half",                Load, U16, RD, &[(0, 0, 0), (2, 0, 0)],              &[(0, 0x84c3_4281)], &[0x4281, 0x84c3], 0, &[(0, 0x84c3_4281)], 1),
    ("lds.s16 extends the sign to 32 bits",    Load, S16, RD, &[(0, 0, 0), (2, 0, 0)],              &[(0, 0x84c3_4281)], &[0x4281, 0xffff_84c3], 0, &[(0, 0x84c3_4281)], 1),
    ("lds.32 does not extend",                 Load, U32, RD, &[(0, 0, 0)],                         &[(0, MAX)],        &[MAX as u128],    0, &[(0, MAX)],        1),
    ("lds.64 has the low word first",          Load, U64, RD, &[(8, 0, 0)],                         &[(8, 1), (12, 2)], &[1 + 2 * W1],     0, &[(8, 1), (12, 2)], 1),
    ("lds.128 has the low word first",         Load, B128, RD, &[(16, 0, 0)],                       &[(16, 1), (20, 2), (24, 3), (28, 4)], &[1 + 2 * W1 + 3 * W2 + 4 * W3], 0, &[(16, 1), (20, 2), (24, 3), (28, 4)], 1),
    ("loads of one word are broadcast",        Load, U32, RD, &[(0, 0, 0), (0, 0, 0), (0, 0, 0)],   &[(0, 6)],          &[6, 6, 6],        0, &[(0, 6)],          1),
    ("loads of two words in a bank take two",  Load, U32, RD, &[(0, 0, 0), (128, 0, 0), (0, 0, 0)], &[(0, 6), (128, 7)], &[6, 7, 6],       0, &[(0, 6), (128, 7)], 2),
    ("lds with RZ gives nothing",              Load, U32, RZ, &[(0, 0, 0)],                         &[(0, 6)],          &[0],              0, &[(0, 6)],          1),

    // 3.5 stores
    ("sts.u8 stores each byte, low first",     Store, U8,  RZ, &[(0, 0x181, 0), (1, 0x42, 0), (3, 0x84, 0)], &[(0, 0x00c3_0000)], &[0, 0, 0], 0, &[(0, 0x84c3_4281)], 1),
    ("sts.u16 stores each half",               Store, U16, RZ, &[(2, 0x1_84c3, 0)],                 &[(0, 0x4281)],     &[0],              0, &[(0, 0x84c3_4281)], 1),
    ("sts.32",                                 Store, U32, RZ, &[(4, W1 | 7, 9)],                   &[(4, MAX)],        &[0],              0, &[(4, 7)],          1),
    ("sts.64",                                 Store, U64, RZ, &[(8, 1 + 2 * W1 + W2, 0)],          &[(16, 9)],         &[0],              0, &[(8, 1), (12, 2), (16, 9)], 1),
    ("sts.128",                                Store, B128, RZ, &[(0, 1 + 2 * W1 + 3 * W2 + 4 * W3, 0)], &[],           &[0],              0, &[(0, 1), (4, 2), (8, 3), (12, 4)], 1),
    ("sts gives nothing",                      Store, U32, RD, &[(4, 7, 9)],                        &[(4, 5)],          &[0],              0, &[(4, 7)],          1),
    ("of stores to a word the lowest lane's stays", Store, U32, RZ, &[(0, 5, 0), (0, 6, 0), (0, 7, 0)], &[],            &[0, 0, 0],        0, &[(0, 5)],          1),
    ("of stores to a byte the lowest lane's stays", Store, U8, RZ, &[(1, 5, 0), (2, 6, 0), (1, 7, 0)], &[],             &[0, 0, 0],        0, &[(0, 0x0006_0500)], 1),
    ("of stores to a pair the lowest lane's stays", Store, U64, RZ, &[(0, 5 | W1, 0), (0, 6, 0)],   &[],                &[0, 0],           0, &[(0, 5), (4, 1)],  1),
    ("of stores to a quad the lowest lane's stays", Store, B128, RZ, &[(0, 5 | W3, 0), (0, 6 | W2, 0)], &[],            &[0, 0],           0, &[(0, 5), (12, 1)], 1),
    ("stores to two words of a bank take two", Store, U32, RZ, &[(0, 5, 0), (128, 6, 0), (0, 7, 0)], &[],               &[0, 0, 0],        0, &[(0, 5), (128, 6)], 2),

    // 4 passes
    ("lanes on different banks go together",   Add, U32, RD, &[(0, 1, 0), (4, 1, 0), (8, 1, 0)],    &[],                &[0, 0, 0],        0, &[(0, 1), (4, 1), (8, 1)], 1),
    ("two words of one bank take two passes",  Add, U32, RD, &[(0, 1, 0), (128, 1, 0)],             &[],                &[0, 0],           0, &[(0, 1), (128, 1)], 2),
    ("the fullest bank decides",               Add, U32, RD, &[(0, 1, 0), (4, 1, 0), (0, 1, 0), (132, 1, 0), (260, 1, 0)], &[], &[0, 0, 1, 0, 0], 0, &[(0, 2), (4, 1), (132, 1), (260, 1)], 3),
    ("a 64-bit access takes a pair",           Exch, U64, RD, &[(0, 1, 0), (128, 2, 0), (8, 3, 0)], &[],                &[0, 0, 0],        0, &[(0, 1), (128, 2), (8, 3)], 2),
    ("a 128-bit access takes a quad",          Exch, B128, RD, &[(0, 1, 0), (16, 2, 0), (128, 3, 0)], &[],              &[0, 0, 0],        0, &[(0, 1), (16, 2), (128, 3)], 2),
};

fn warp(op: u8, size: u8, red: bool, lanes: &[L]) -> WarpRequest {
    WarpRequest {
        op,
        size,
        red,
        mask: (1u64 << lanes.len()).wrapping_sub(1) as u32,
        lanes: lanes.iter().map(|&(ra, b, c)| Lane { ra, b, c }).collect(),
        tag: 21,
        ..WarpRequest::default()
    }
}

fn one(allocation: AllocationWrite, request: WarpRequest) -> Case {
    Case { allocations: vec![allocation], warps: vec![request], ..Case::default() }
}

fn memory_of(bench: &Bench, words: &[W]) -> Vec<u32> {
    let mut memory = vec![0; (bench.config().bytes() / 4) as usize];
    for &(addr, value) in words {
        memory[bench.word(addr)] = value;
    }
    memory
}

/// Compares memory word by word, so that a failure prints one word instead of 12288.
fn assert_memory(what: &str, got: &[u32], expected: &[u32]) {
    let differs = (0..got.len()).find(|&word| got[word] != expected[word]);
    if let Some(word) = differs {
        panic!("{what}: word {word} is {:#x}, expected {:#x}", got[word], expected[word]);
    }
}

fn assert_results(what: &str, observed: &CaseAnswers, rd: &[u128], pred: u32) {
    let answer = &observed.warps[0];
    for (lane, &got) in answer.rsp_rd.iter().enumerate() {
        let expected = rd.get(lane).copied().unwrap_or(0);
        assert_eq!(got, expected, "{what}: Rd of lane {lane} is {got:#x}, expected {expected:#x}");
    }
    assert_eq!(answer.rsp_pred, pred, "{what}: predicates");
}

#[test]
fn operations_do_what_their_rows_say() {
    let mut bench = Bench::new(config("default"));
    each_row(
        OPERATIONS,
        |row| row.rule,
        |row| {
            let &&OperationRow { rule, op, size, red, lanes, before, rd, pred, after, passes } = row;
            let case = one(bench.whole(), warp(op as u8, size as u8, red, lanes));
            let (before, after) = (memory_of(&bench, before), memory_of(&bench, after));
            for (side, observed) in bench.run(rule, &case, &before) {
                let what = format!("{rule}, on the {side}");
                assert_results(&what, &observed, rd, pred);
                assert_memory(&what, &observed.memory, &after);
                let answer = &observed.warps[0];
                assert_eq!(answer.rsp_passes, passes, "{what}: passes");
                assert_eq!((answer.rsp_fault, answer.rsp_tag), (0, 21), "{what}: fault and tag");
            }
        },
    );
}

/// Every operation on plain memory has a row in each of its sizes. `mbarrier.rs` covers the other operations.
#[test]
fn every_operation_has_a_row_in_every_size() {
    for row in atoms_ops::OPS.iter().filter(|row| !row.op.is_mbarrier()) {
        for size in row.sizes {
            let found = OPERATIONS.iter().any(|r| r.op == row.op && r.size == *size);
            assert!(found, "{}.{size} has no row", row.op);
        }
    }
}

/// Returns memory in which each word contains its own byte address.
fn named_words(bench: &Bench) -> Vec<u32> {
    let mut memory = vec![0; (bench.config().bytes() / 4) as usize];
    for addr in (0..bench.config().bytes() as u32).step_by(4) {
        memory[bench.word(addr)] = 0xa500_0000 | addr;
    }
    memory
}

struct AddressRow {
    rule: &'static str,
    absolute: bool,
    scale: u8,
    imm: u32,
    ur: u32,
    ra: u32,
    rank: u8,
    offset: u32,
}

const ADDRESSES: &[AddressRow] = rows! {
    AddressRow { rule, absolute, scale, imm, ur, ra, rank, offset }
    // rule                                          absolute scale imm         ur           ra           rank offset
    ("2.1 Ra alone",                                 false,   0,    0,          0,           0x40,        0,   0x40),
    ("2.1 Ra + imm",                                 false,   0,    0x10,       0,           0x40,        0,   0x50),
    ("2.1 the immediate is signed",                  false,   0,    0xff_fffc,  0,           0x40,        0,   0x3c),
    ("2.1 the most negative immediate",              false,   0,    0x80_0000,  0,           0x80_0040,   0,   0x40),
    ("2.1 the most positive immediate",              false,   0,    0x7f_fffc,  0,           0xff80_0044, 0,   0x40),
    ("2.1 the sum is modulo 2^32",                   false,   0,    8,          0,           0xffff_fffc, 0,   4),
    ("2.1 absolute: Ra does not count",              true,    0,    0x40,       0,           0xdead_beef, 0,   0x40),
    ("2.1 absolute: nor does its scale",             true,    4,    0x40,       0,           0x10,        0,   0x40),
    ("2.1 absolute: the immediate is unsigned",      true,    0,    0x80_0000,  0xff80_0040, 0,           0,   0x40),
    ("2.2 UR adds in",                               false,   0,    4,          0x100,       0x40,        0,   0x144),
    ("2.2 UR adds in to the absolute form",          true,    0,    4,          0x100,       0x40,        0,   0x104),
    ("2.2 the sum with UR is modulo 2^32",           false,   0,    0,          0xffff_fff0, 0x20,        0,   0x10),
    ("2.2 .X4",                                      false,   2,    4,          0,           0x10,        0,   0x44),
    ("2.2 .X8",                                      false,   3,    4,          0,           0x10,        0,   0x84),
    ("2.2 .X16",                                     false,   4,    4,          0,           0x10,        0,   0x104),
    ("2.2 scaling drops the top bits of Ra",         false,   4,    0,          0,           0xf000_0004, 0,   0x40),
    ("2.2 UR and immediate are not scaled",          false,   2,    0x10,       0x20,        0x40,        0,   0x130),
    ("2.2 code 1 is no scale",                       false,   1,    0,          0,           0x40,        0,   0x40),
    ("2.2 code 5 is no scale",                       false,   5,    0,          0,           0x40,        0,   0x40),
    ("2.2 code 6 is no scale",                       false,   6,    0,          0,           0x40,        0,   0x40),
    ("2.2 code 7 is no scale",                       false,   7,    0,          0,           0x40,        0,   0x40),
    ("2.3 the immediate is a byte offset",           false,   0,    2,          0,           0x3e,        0,   0x40),
    ("1.4 the top byte is the CTA's own rank",       false,   0,    0,          0,           0x0300_0040, 3,   0x40),
    ("1.4 the rank may come from UR",                false,   0,    4,          0xff00_0000, 0x40,        255, 0x44),
    ("1.4 the rank may come from UR, absolute",      true,    0,    4,          0x0300_0000, 0x40,        3,   4),
    ("1.4 the rank stays while the sum is inside",       false,   0,    0xff_fffc,  0,           0x0400_0000 - 0xff_ff00, 3, 0xfc),
};

#[test]
fn addresses_are_formed_as_their_rows_say() {
    let mut bench = Bench::new(config("default"));
    let memory = named_words(&bench);
    each_row(
        ADDRESSES,
        |row| row.rule,
        |row| {
            let &&AddressRow { rule, absolute, scale, imm, ur, ra, rank, offset } = row;
            let request =
                WarpRequest { absolute, scale, imm, ur, ..warp(Load as u8, U32 as u8, RD, &[(ra, 0, 0)]) };
            let case = one(AllocationWrite { rank, ..bench.whole() }, request);
            for (side, observed) in bench.run(rule, &case, &memory) {
                let what = format!("{rule}, on the {side}");
                assert_eq!(observed.warps[0].rsp_fault, Fault::None as u8, "{what}");
                assert_results(&what, &observed, &[u128::from(0xa500_0000 | offset)], 0);
            }
        },
    );
}

struct FaultRow {
    rule: &'static str,
    op: u8,
    size: u8,
    mask: u32,
    /// Size of the allocation.
    bytes: u32,
    rank: u8,
    /// Ra of each lane, from lane 0 on.
    ra: &'static [u32],
    fault: Fault,
    lane: u8,
    addr: u32,
}

const FAULTS: &[FaultRow] = {
    use Fault::{Illegal, Misaligned, None, OutOfRange};
    const ST: u8 = Store as u8;
    const XC: u8 = Exch as u8;
    const B1: u8 = U8 as u8;
    const B2: u8 = U16 as u8;
    const B4: u8 = U32 as u8;
    const B8: u8 = U64 as u8;
    const BG: u8 = B128 as u8;
    rows! {
        FaultRow { rule, op, size, mask, bytes, rank, ra, fault, lane, addr }
        // rule                                     op  size mask    allocation rank Ra                        fault       lane addr
        ("2.4 a half at an odd address",            ST, B2,  1,      256, 0, &[1],                       Misaligned, 0, 1),
        ("2.4 a word at a half",                    XC, B4,  1,      256, 0, &[2],                       Misaligned, 0, 2),
        ("2.4 a word at an odd address",            XC, B4,  1,      256, 0, &[3],                       Misaligned, 0, 3),
        ("2.4 a pair at a word",                    XC, B8,  1,      256, 0, &[4],                       Misaligned, 0, 4),
        ("2.4 a quad at a pair",                    XC, BG,  1,      256, 0, &[8],                       Misaligned, 0, 8),
        ("2.4 a quad at a word",                    XC, BG,  1,      256, 0, &[4],                       Misaligned, 0, 4),
        ("2.4 a byte is never misaligned",          ST, B1,  1,      256, 0, &[255],                     None,       0, 0),
        ("2.4 the last half",                       ST, B2,  1,      256, 0, &[254],                     None,       0, 0),
        ("2.4 the last word",                       XC, B4,  1,      256, 0, &[252],                     None,       0, 0),
        ("2.4 the last pair",                       XC, B8,  1,      256, 0, &[248],                     None,       0, 0),
        ("2.4 the last quad",                       XC, BG,  1,      256, 0, &[240],                     None,       0, 0),
        ("2.4 the byte behind the allocation",      ST, B1,  1,      256, 0, &[256],                     OutOfRange, 0, 256),
        ("2.4 the half behind the allocation",      ST, B2,  1,      256, 0, &[256],                     OutOfRange, 0, 256),
        ("2.4 the word behind the allocation",      XC, B4,  1,      256, 0, &[256],                     OutOfRange, 0, 256),
        ("2.4 the pair behind the allocation",      XC, B8,  1,      256, 0, &[256],                     OutOfRange, 0, 256),
        ("2.4 the quad behind the allocation",      XC, BG,  1,      256, 0, &[256],                     OutOfRange, 0, 256),
        ("2.4 the last byte of an odd allocation",  ST, B1,  1,      255, 0, &[254],                     None,       0, 0),
        ("2.4 a half cut by the allocation's end",  ST, B2,  1,      255, 0, &[254],                     OutOfRange, 0, 254),
        ("2.4 a word cut by the allocation's end",  XC, B4,  1,      255, 0, &[252],                     OutOfRange, 0, 252),
        ("2.4 a word cut after one byte",           XC, B4,  1,      253, 0, &[252],                     OutOfRange, 0, 252),
        ("2.4 a pair cut in the middle",            XC, B8,  1,      252, 0, &[248],                     OutOfRange, 0, 248),
        ("2.4 a quad cut by its last byte",         XC, BG,  1,      255, 0, &[240],                     OutOfRange, 0, 240),
        ("2.4 an empty allocation has no byte",     ST, B1,  1,      0,   0, &[0],                       OutOfRange, 0, 0),
        ("2.4 the end of the window",               XC, B4,  1,      256, 0, &[0x00ff_fffc],             OutOfRange, 0, 0x00ff_fffc),
        ("1.4 another CTA's rank",                  XC, B4,  1,      256, 3, &[0x0200_0000],             OutOfRange, 0, 0x0200_0000),
        ("1.4 no rank, where the own one is 3",     XC, B4,  1,      256, 3, &[0x40],                    OutOfRange, 0, 0x40),
        ("1.4 rank 1, where the own one is 0",      XC, B4,  1,      256, 0, &[0x0100_0000],             OutOfRange, 0, 0x0100_0000),
        ("1.4 one bit of the rank too many",        XC, B4,  1,      256, 3, &[0x8300_0000],             OutOfRange, 0, 0x8300_0000),
        ("1.4 the own rank",                        XC, B4,  1,      256, 3, &[0x0300_0000],             None,       0, 0),
        ("2.4 misaligned goes before out of range", XC, B4,  1,      256, 0, &[0x0100_0002],             Misaligned, 0, 0x0100_0002),
        ("whole: one bad lane stops all",           XC, B4,  0b1111, 256, 0, &[0, 4, 10, 12],            Misaligned, 2, 10),
        ("whole: the last lane stops all",          XC, B4,  0b1111, 256, 0, &[0, 4, 8, 256],            OutOfRange, 3, 256),
        ("whole: the lowest bad lane is named",     XC, B4,  0b1111, 256, 0, &[0, 256, 6, 512],          OutOfRange, 1, 256),
        ("whole: the lowest lane, not the worst",   XC, B4,  0b1111, 256, 0, &[0, 6, 256, 5],            Misaligned, 1, 6),
        ("2.6 lanes out of the guard do no harm",   XC, B4,  0b1001, 256, 0, &[0, 256, 6, 12],           None,       0, 0),
        ("2.6 nor are they named",                  XC, B4,  0b1000, 256, 0, &[1, 256, 6, 300],          OutOfRange, 3, 300),
        ("2.6 no lane, no fault",                   XC, B4,  0,      256, 0, &[1, 256, 6, 300],          None,       0, 0),
        ("2.6 no lane, not even an illegal one",    31, 15,  0,      256, 0, &[1],                       None,       0, 0),
        ("3.3 no such operation",                   31, B4,  1,      256, 0, &[0x40],                    Illegal,    0, 0x40),
        ("3.3 an mbarrier operation on one word",   16, B4,  1,      256, 0, &[0x40],                    Illegal,    0, 0x40),
        ("3.3 the last code",                       31, B4,  1,      256, 0, &[0x40],                    Illegal,    0, 0x40),
        ("3.3 no such size",                        XC, 5,   1,      256, 0, &[0x40],                    Illegal,    0, 0x40),
        ("3.3 a signed size that is none",          XC, 11,  1,      256, 0, &[0x40],                    Illegal,    0, 0x40),
        ("3.3 the last size code",                  XC, 15,  1,      256, 0, &[0x40],                    Illegal,    0, 0x40),
        ("3.3 inc.s32",                             3,  10,  1,      256, 0, &[0x40],                    Illegal,    0, 0x40),
        ("3.3 add.64",                              0,  B8,  1,      256, 0, &[0x40],                    Illegal,    0, 0x40),
        ("3.3 exch.u16",                            XC, B2,  1,      256, 0, &[0x40],                    Illegal,    0, 0x40),
        ("3.3 cast.128",                            10, BG,  1,      256, 0, &[0x40],                    Illegal,    0, 0x40),
        ("3.3 spin.128",                            11, BG,  1,      256, 0, &[0x40],                    Illegal,    0, 0x40),
        ("3.3 popc.inc.64",                         12, B8,  1,      256, 0, &[0x40],                    Illegal,    0, 0x40),
        ("3.3 lds.s32",                             13, 10,  1,      256, 0, &[0x40],                    Illegal,    0, 0x40),
        ("3.3 sts.s16",                             ST, 9,   1,      256, 0, &[0x40],                    Illegal,    0, 0x40),
        ("3.3 illegal goes before all others",      31, B4,  0b0110, 256, 0, &[1, 2, 256],               Illegal,    1, 2),
    }
};

#[test]
fn a_fault_is_named_and_touches_nothing() {
    let mut bench = Bench::new(config("default"));
    let memory = named_words(&bench);
    each_row(
        FAULTS,
        |row| row.rule,
        |row| {
            let &&FaultRow { rule, op, size, mask, bytes, rank, ra, fault, lane, addr } = row;
            let lanes: Vec<L> = ra.iter().map(|&ra| (ra, u128::MAX, 0)).collect();
            let request = WarpRequest { mask, ..warp(op, size, RD, &lanes) };
            let allocation = AllocationWrite { size: bytes, rank, ..bench.whole() };
            let case = one(allocation, request);
            for (side, observed) in bench.run(rule, &case, &memory) {
                let what = format!("{rule}, on the {side}");
                let answer = &observed.warps[0];
                let got = Fault::from_code(answer.rsp_fault).expect("two bits name every fault");
                assert_eq!(
                    (got, answer.rsp_fault_lane, answer.rsp_fault_addr),
                    (fault, lane, addr),
                    "{what}"
                );
                let touched = observed.memory != memory;
                assert_eq!(touched, fault == Fault::None && mask != 0, "{what}: memory");
                if !touched {
                    assert_results(&what, &observed, &[], 0);
                    assert_eq!(answer.rsp_passes, 0, "{what}: passes");
                }
            }
        },
    );
}

struct AllocationRow {
    rule: &'static str,
    /// Slot, enable, first row, bytes and rank of each write.
    writes: &'static [(u8, bool, u16, u32, u8)],
    refused: u32,
    slot: u8,
    addr: u32,
    /// Physical byte address of the stored word. None if the STS is out of range.
    stored: Option<u32>,
}

/// Rows for `small`, which has 8 rows of 16 bytes and 2 slots.
const ALLOCATIONS: &[AllocationRow] = rows! {
    AllocationRow { rule, writes, refused, slot, addr, stored }
    // rule                                            writes                                                   refused slot addr stored
    ("1.3 address 0 is the CTA's first byte",          &[(0, true, 2, 32, 0)],                                       0, 0, 0,  Some(32)),
    ("1.3 the allocation's last word",                 &[(0, true, 2, 32, 0)],                                       0, 0, 28, Some(60)),
    ("1.3 the word behind it",                         &[(0, true, 2, 32, 0)],                                       0, 0, 32, None),
    ("1.3 the same offset in two allocations, first",  &[(0, true, 0, 64, 0), (1, true, 4, 64, 0)],                  0, 0, 4,  Some(4)),
    ("1.3 the same offset in two allocations, second", &[(0, true, 0, 64, 0), (1, true, 4, 64, 0)],                  0, 1, 4,  Some(68)),
    ("1.3 the neighbour's first byte",                 &[(0, true, 0, 64, 0), (1, true, 4, 64, 0)],                  0, 0, 64, None),
    ("1.3 a slot without an allocation",               &[(0, true, 0, 64, 0)],                                       0, 1, 0,  None),
    ("1.3 a slot that does not exist",                 &[(0, true, 0, 64, 0)],                                       0, 2, 0,  None),
    ("1.3 a slot that cannot have an allocation",      &[(2, true, 0, 64, 0)],                                       1, 2, 0,  None),
    ("1.3 an allocation taken away",                   &[(0, true, 0, 64, 0), (0, false, 0, 64, 0)],                 0, 0, 0,  None),
    ("1.3 an allocation given again",                  &[(0, true, 0, 64, 0), (0, false, 0, 0, 0), (0, true, 4, 64, 0)], 0, 0, 0, Some(64)),
    ("1.3 an allocation may move over itself",         &[(0, true, 0, 64, 0), (0, true, 1, 64, 0)],                  0, 0, 0,  Some(16)),
    ("1.3 an allocation in another's way is refused",  &[(0, true, 0, 64, 0), (1, true, 3, 64, 0)],                  1, 1, 0,  None),
    ("1.3 the one there first stays",                  &[(0, true, 0, 64, 0), (1, true, 3, 64, 0)],                  1, 0, 60, Some(60)),
    ("1.3 an allocation around another is refused",    &[(0, true, 2, 32, 0), (1, true, 0, 128, 0)],                 1, 1, 0,  None),
    ("1.3 an allocation inside another is refused",    &[(0, true, 0, 128, 0), (1, true, 2, 16, 0)],                 1, 1, 0,  None),
    ("1.3 allocations never share a row",              &[(0, true, 0, 20, 0), (1, true, 1, 16, 0)],                  1, 1, 0,  None),
    ("1.3 the row behind an odd allocation is free",   &[(0, true, 0, 20, 0), (1, true, 2, 16, 0)],                  0, 1, 0,  Some(32)),
    ("1.3 an odd allocation ends inside its row",      &[(0, true, 0, 20, 0)],                                       0, 0, 20, None),
    ("1.3 the last row",                               &[(0, true, 7, 16, 0)],                                       0, 0, 12, Some(124)),
    ("1.3 an allocation behind the memory is refused", &[(0, true, 7, 17, 0)],                                       1, 0, 0,  None),
    ("1.3 an allocation from beyond it is refused",    &[(0, true, 8, 4, 0)],                                        1, 0, 0,  None),
    ("1.3 the largest size is refused",                &[(0, true, 0, 0x1ff_ffff, 0)],                               1, 0, 0,  None),
    ("1.3 the largest base is refused",                &[(0, true, 0xffff, 16, 0)],                                  1, 0, 0,  None),
    ("1.3 a refused write leaves no allocation",       &[(0, true, 0, 64, 0), (0, true, 8, 64, 0)],                  1, 0, 0,  None),
    ("1.3 room that was taken away is free",           &[(0, true, 0, 64, 0), (0, false, 0, 0, 0), (1, true, 0, 64, 0)], 0, 1, 0, Some(0)),
    ("1.4 each allocation has its own rank",           &[(0, true, 0, 64, 1), (1, true, 4, 64, 2)],                  0, 1, 0x0200_0000, Some(64)),
    ("1.4 another's rank does not reach it",           &[(0, true, 0, 64, 1), (1, true, 4, 64, 2)],                  0, 1, 0x0100_0000, None),
};

#[test]
fn no_request_leaves_its_allocation() {
    let mut bench = Bench::new(config("small"));
    let memory = named_words(&bench);
    each_row(
        ALLOCATIONS,
        |row| row.rule,
        |row| {
            let &&AllocationRow { rule, writes, refused, slot, addr, stored } = row;
            let allocations = writes
                .iter()
                .map(|&(slot, enable, base, size, rank)| AllocationWrite { slot, enable, base, size, rank })
                .collect();
            let request = WarpRequest { slot, ..warp(Store as u8, U32 as u8, RZ, &[(addr, 0x1234_5678, 0)]) };
            let case = Case { allocations, warps: vec![request], ..Case::default() };
            let mut after = memory.clone();
            if let Some(at) = stored {
                after[bench.word(at)] = 0x1234_5678;
            }
            let fault = if stored.is_some() { Fault::None } else { Fault::OutOfRange };
            for (side, observed) in bench.run(rule, &case, &memory) {
                let what = format!("{rule}, on the {side}");
                assert_eq!(observed.refused, refused, "{what}: writes refused");
                assert_eq!(observed.warps[0].rsp_fault, fault as u8, "{what}: fault");
                assert_memory(&what, &observed.memory, &after);
            }
        },
    );
}

/// The last row of an allocation belongs to that allocation alone, for any number of bytes in it (spec 1.3).
/// Another allocation may start or end in the neighbouring row only.
#[test]
fn a_last_row_belongs_to_one_allocation() {
    let mut bench = Bench::new(config("default"));
    let row = bench.config().row_bytes();
    let memory = named_words(&bench);
    for bytes in 1..=row {
        let allocation = |slot, base, size| AllocationWrite { slot, enable: true, base, size, rank: 0 };
        let (long, short) = (row + bytes, 16);
        for (first, second, refused) in [
            (allocation(0, 2, long), allocation(1, 3, short), 1),
            (allocation(0, 2, long), allocation(1, 4, short), 0),
            (allocation(0, 4, short), allocation(1, 3, long), 1),
            (allocation(0, 4, short), allocation(1, 2, long), 0),
        ] {
            let request = WarpRequest { slot: 1, ..warp(Load as u8, U8 as u8, RD, &[(0, 0, 0)]) };
            let case = Case { allocations: vec![first, second], warps: vec![request], ..Case::default() };
            let fault = if refused == 1 { Fault::OutOfRange } else { Fault::None };
            let rule = format!(
                "{} bytes at row {}, then {} at {}",
                first.size, first.base, second.size, second.base
            );
            for (side, observed) in bench.run(&rule, &case, &memory) {
                assert_eq!(observed.refused, refused, "{rule}, on the {side}: writes refused");
                assert_eq!(observed.warps[0].rsp_fault, fault as u8, "{rule}, on the {side}: fault");
            }
        }
    }
}

struct PassRow {
    rule: &'static str,
    on: &'static str,
    op: Op,
    size: Size,
    /// True if Rd is RZ.
    red: bool,
    lanes: u32,
    from: u32,
    /// Bytes from lane to lane.
    stride: u32,
    passes: u8,
}

/// Banks of addresses (spec 1.2), and passes of their conflicts (spec 4.3, 4.4).
const PASSES: &[PassRow] = rows! {
    PassRow { rule, on, op, size, red, lanes, from, stride, passes }
    // rule                                          config     op        size  RZ  lanes from stride passes
    ("4.1 a word each, all banks",                   "default", Add,      U32,  RD, 32,   0,   4,     1),
    ("4.1 two lanes on each bank",                   "default", Add,      U32,  RD, 32,   0,   8,     2),
    ("4.1 an odd stride meets no bank twice",        "default", Add,      U32,  RD, 32,   0,   132,   1),
    ("4.3 eight lanes on each bank",                 "default", Inc,      U32,  RD, 32,   0,   32,    8),
    ("4.3 all lanes on one word",                    "default", Add,      U32,  RD, 32,   64,  0,     32),
    ("4.3 all lanes on one bank",                    "default", Add,      U32,  RD, 32,   64,  128,   32),
    ("4.3 all lanes on one word without result",     "default", Add,      U32,  RZ, 32,   64,  0,     32),
    ("4.4 64 bits, half a warp a pass",              "default", Exch,     U64,  RD, 32,   0,   8,     2),
    ("4.4 64 bits, half a warp",                     "default", Exch,     U64,  RD, 16,   0,   8,     1),
    ("4.4 64 bits on one pair",                      "default", Cas,      U64,  RD, 32,   8,   128,   32),
    ("4.4 128 bits, a quarter warp a pass",          "default", Exch,     B128, RD, 32,   0,   16,    4),
    ("4.4 128 bits, a quarter warp",                 "default", Exch,     B128, RD, 8,    0,   16,    1),
    ("4.4 loads of 64 bits, half a warp a pass",     "default", Load,     U64,  RD, 32,   0,   8,     2),
    ("4.4 loads of 128 bits, a quarter warp a pass", "default", Load,     B128, RD, 32,   0,   16,    4),
    ("4.4 stores of 128 bits, a quarter warp a pass", "default", Store,   B128, RZ, 32,   0,   16,    4),
    ("3.5 all lanes load one word",                  "default", Load,     U32,  RD, 32,   64,  0,     1),
    ("3.5 all lanes load one quad",                  "default", Load,     B128, RD, 32,   64,  0,     1),
    ("3.5 bytes of eight words",                     "default", Load,     S8,   RD, 32,   64,  1,     1),
    ("3.5 loads of one bank",                        "default", Load,     U32,  RD, 32,   0,   128,   32),
    ("3.5 bytes stored to eight words",              "default", Store,    U8,   RZ, 32,   64,  1,     1),
    ("3.5 stores to one bank",                       "default", Store,    U16,  RZ, 32,   0,   128,   32),
    ("3 popc.inc on one word",                       "default", PopcInc,  U32,  RZ, 32,   64,  0,     1),
    ("3 popc.inc on one bank",                       "default", PopcInc,  U32,  RZ, 32,   64,  128,   32),
    ("5.2 spin on one word",                         "default", CastSpin, U32,  RD, 32,   64,  0,     1),
    ("5.2 spin on one bank",                         "default", CastSpin, U32,  RD, 32,   64,  128,   1),
    ("5.2 spin on two words a bank",                 "default", CastSpin, U64,  RD, 32,   0,   8,     1),
    ("5.2 where cast takes 32",                      "default", Cast,     U32,  RD, 32,   64,  0,     32),
    ("1.2 64 banks: a word each",                    "wide",    Add,      U32,  RD, 32,   0,   8,     1),
    ("1.2 64 banks: one bank",                       "wide",    Add,      U32,  RD, 32,   0,   256,   32),
    ("1.2 64 banks: 64 bits, the whole warp",        "wide",    Exch,     U64,  RD, 32,   0,   8,     1),
    ("1.2 hash: a column is spread over 8 banks",    "hashed",  Add,      U32,  RD, 32,   0,   128,   4),
    ("1.2 hash: a row stays free of conflicts",      "hashed",  Add,      U32,  RD, 32,   128, 4,     1),
    ("1.2 hash: quads stay together",                "hashed",  Exch,     B128, RD, 8,    128, 16,    1),
    ("5.2 hash: spin is one pass all the same",      "hashed",  CastSpin, U32,  RD, 32,   0,   128,   1),
    ("merge: add of one word without result",        "merging", Add,      U32,  RZ, 32,   64,  0,     1),
    ("merge: not with a result",                     "merging", Add,      U32,  RD, 32,   64,  0,     32),
    ("merge: min",                                   "merging", Min,      S32,  RZ, 32,   64,  0,     1),
    ("merge: max",                                   "merging", Max,      U32,  RZ, 32,   64,  0,     1),
    ("merge: and",                                   "merging", And,      U32,  RZ, 32,   64,  0,     1),
    ("merge: or",                                    "merging", Or,       S32,  RZ, 32,   64,  0,     1),
    ("merge: xor",                                   "merging", Xor,      U32,  RZ, 32,   64,  0,     1),
    ("merge: not inc",                               "merging", Inc,      U32,  RZ, 32,   64,  0,     32),
    ("merge: not dec",                               "merging", Dec,      U32,  RZ, 32,   64,  0,     32),
    ("merge: not exch",                              "merging", Exch,     U32,  RZ, 32,   64,  0,     32),
    ("merge: not cas",                               "merging", Cas,      U32,  RZ, 32,   64,  0,     32),
    ("merge: not two words of one bank",             "merging", Add,      U32,  RZ, 32,   64,  128,   32),
};

fn passes_are_the_fullest_bank(name: &str) {
    let mut bench = Bench::new(config(name));
    let memory = named_words(&bench);
    each_row(
        PASSES.iter().filter(|row| row.on == name),
        |row| row.rule,
        |row| {
            let &&PassRow { rule, on, op, size, red, lanes, from, stride, passes } = row;
            let lanes: Vec<L> = (0..lanes).map(|l| (from + stride * l, 1 + u128::from(l), 7)).collect();
            let case = one(bench.whole(), warp(op as u8, size as u8, red, &lanes));
            for (side, observed) in bench.run(rule, &case, &memory) {
                let answer = &observed.warps[0];
                assert_eq!(answer.rsp_fault, 0, "{rule}, on the {side} of `{on}`");
                assert_eq!(answer.rsp_passes, passes, "{rule}, on the {side} of `{on}`");
            }
        },
    );
}

fn configs_with_passes() -> Vec<&'static str> {
    let mut names: Vec<_> = PASSES.iter().map(|row| row.on).collect();
    names.dedup();
    names
}

test_each! {
    mod passes: all configs_with_passes() => passes_are_the_fullest_bank;
    default
    #[ignore = "nightly: another configuration"]
    wide
    #[ignore = "nightly: another configuration"]
    hashed
    #[ignore = "nightly: another configuration"]
    merging
}

/// Three requests access one word with lanes 0, 5 and 31. `orders` is the order of service (spec 4.2).
fn lanes_are_served_in_order(name: &str, rule: &str, orders: [[u32; 3]; 3]) {
    let mut bench = Bench::new(config(name));
    let memory = memory_of(&bench, &[]);
    let mut lanes = [(0, 0, 0); 32];
    for l in [0, 5, 31] {
        lanes[l] = (64, l as u128 + 1, 0);
    }
    let mut request = warp(Exch as u8, U32 as u8, RD, &lanes);
    request.mask = 1 | 1 << 5 | 1 << 31;
    let mut spin = request.clone();
    (spin.op, spin.lanes) = (CastSpin as u8, lanes.map(|(ra, ..)| Lane { ra, b: 0, c: 1 }).to_vec());
    let mut exchanges = Case { allocations: vec![bench.whole()], ..Case::default() };
    exchanges.warps = vec![request; 3];
    for (side, observed) in bench.run(rule, &exchanges, &memory) {
        let mut held = 0;
        for (answer, order) in observed.warps.iter().zip(orders) {
            for lane in order {
                let got = answer.rsp_rd[lane as usize];
                assert_eq!(got, held, "{rule}, on the {side}: lane {lane} in {order:?}");
                held = u128::from(lane) + 1;
            }
        }
    }
    // 5.4: after reset, lane 0 has priority. Without a request of lane 0, the winner policy selects the lane.
    let without = WarpRequest { mask: spin.mask & !1, ..spin.clone() };
    let first = orders[0].into_iter().find(|lane| *lane != 0).expect("two other lanes ask");
    for (request, lane) in [(spin, 0), (without, first)] {
        for (side, observed) in bench.run(rule, &one(bench.whole(), request), &memory) {
            assert_eq!(observed.warps[0].rsp_pred, 1 << lane, "5.4 {rule}, on the {side}");
        }
    }
}

test_each! {
    mod policies: lanes_are_served_in_order;
    default("the lowest waiting lane", [[0, 5, 31], [0, 5, 31], [0, 5, 31]])
    #[ignore = "nightly: another configuration"]
    highest("the highest waiting lane", [[31, 5, 0], [31, 5, 0], [31, 5, 0]])
    #[ignore = "nightly: another configuration"]
    rotating("rotating, one on a request", [[0, 5, 31], [5, 31, 0], [5, 31, 0]])
}

/// Request of the cluster port and its effect. Words that a row does not name are zero before and after.
struct ClusterRow {
    rule: &'static str,
    op: u8,
    size: u8,
    /// True if Rd is RZ.
    red: bool,
    addr: u32,
    b: u128,
    c: u128,
    before: &'static [W],
    rd: u128,
    pred: u8,
    fault: Fault,
    after: &'static [W],
}

/// The allocation has rank 5 and 64 bytes from row 1 on, byte address 16 of `small`.
const CLUSTER: &[ClusterRow] = rows! {
    ClusterRow { rule, op, size, red, addr, b, c, before, rd, pred, fault, after }
    // rule                                  op              size      RZ  offset b        c  before            rd       pred fault          after
    ("1.4 an offset, whatever the rank",     Add as u8,      U32 as u8, RD, 4,    1,       0, &[(20, 7)],       7,       0, Fault::None,       &[(20, 8)]),
    ("7.5 without result",                   Add as u8,      U32 as u8, RZ, 4,    1,       0, &[(20, 7)],       0,       0, Fault::None,       &[(20, 8)]),
    ("7.5 min.s32",                          Min as u8,      S32 as u8, RD, 0,    TOP as u128, 0, &[(16, 7)],   7,       0, Fault::None,       &[(16, TOP)]),
    ("7.5 cas.64",                           Cas as u8,      U64 as u8, RD, 8,    W1,      2, &[(28, 1)],       W1,      1, Fault::None,       &[(24, 2)]),
    ("7.5 cas.64 miss",                      Cas as u8,      U64 as u8, RD, 8,    W1 | 1,  2, &[(28, 1)],       W1,      0, Fault::None,       &[(28, 1)]),
    ("7.5 cas.128 stores four words",        Cas as u8,      B128 as u8, RD, 16,  1 + 2 * W1 + 3 * W2 + 4 * W3, 5 + 6 * W1 + 7 * W2 + 8 * W3, &[(32, 1), (36, 2), (40, 3), (44, 4)], 1 + 2 * W1 + 3 * W2 + 4 * W3, 1, Fault::None, &[(32, 5), (36, 6), (40, 7), (44, 8)]),
    ("7.5 cast",                             Cast as u8,     U32 as u8, RD, 8,    0,       2, &[],              1,       1, Fault::None,       &[(24, 2)]),
    ("7.5 a spin alone is selected",         CastSpin as u8, U32 as u8, RD, 8,    0,       2, &[],              1,       1, Fault::None,       &[(24, 2)]),
    ("7.5 exch.128",                         Exch as u8,     B128 as u8, RD, 16,  W3 + 2,  0, &[(36, 9)],       9 * W1,  0, Fault::None,       &[(32, 2), (44, 1)]),
    ("7.5 popc.inc counts one",              PopcInc as u8,  U32 as u8, RZ, 0,    0,       0, &[(16, 7)],       0,       0, Fault::None,       &[(16, 8)]),
    ("7.5 sts.u8",                           Store as u8,    U8 as u8,  RZ, 1,    0xabcd,  0, &[(16, MAX)],     0,       0, Fault::None,       &[(16, 0xffff_cdff)]),
    ("7.5 lds.s16",                          Load as u8,     S16 as u8, RD, 2,    0,       0, &[(16, TOP)],     0xffff_8000, 0, Fault::None,   &[(16, TOP)]),
    ("2.4 the last word of the allocation",  Add as u8,      U32 as u8, RD, 60,   1,       0, &[],              0,       0, Fault::None,       &[(76, 1)]),
    ("4.7 posted, the word behind it",       Add as u8,      U32 as u8, RZ, 64,   1,       0, &[],              0,       0, Fault::OutOfRange, &[]),
    ("4.7 a cas without result still tells", Cas as u8,      U32 as u8, RZ, 8,    0,       2, &[],              0,       1, Fault::None,       &[(24, 2)]),
    ("4.7 so does a cast that fails",        Cast as u8,     U32 as u8, RZ, 8,    1,       2, &[],              0,       0, Fault::None,       &[]),
    ("2.4 the word behind it",               Add as u8,      U32 as u8, RD, 64,   1,       0, &[],              0,       0, Fault::OutOfRange, &[]),
    ("2.4 a quad at a pair",                 Exch as u8,     B128 as u8, RD, 56,  1,       0, &[],              0,       0, Fault::Misaligned, &[]),
    ("2.4 misaligned",                       Add as u8,      U32 as u8, RD, 2,    1,       0, &[],              0,       0, Fault::Misaligned, &[]),
    ("2.4 misaligned before out of range",   Add as u8,      U32 as u8, RD, 66,   1,       0, &[],              0,       0, Fault::Misaligned, &[]),
    ("3.3 illegal before all others",        31,             U32 as u8, RD, 66,   1,       0, &[],              0,       0, Fault::Illegal,    &[]),
    ("3.3 illegal in this size",             Add as u8,      U64 as u8, RD, 8,    1,       0, &[],              0,       0, Fault::Illegal,    &[]),
};

#[test]
fn cluster_requests_do_what_their_rows_say() {
    let mut bench = Bench::new(config("small"));
    each_row(
        CLUSTER,
        |row| row.rule,
        |row| {
            let &&ClusterRow { rule, op, size, red, addr, b, c, before, rd, pred, fault, after } = row;
            let allocation = AllocationWrite { slot: 1, enable: true, base: 1, size: 64, rank: 5 };
            let request = ClusterRequest { op, size, red, tag: 42, slot: 1, addr, b, c };
            let case = Case { allocations: vec![allocation], clusters: vec![request], ..Case::default() };
            let (before, after) = (memory_of(&bench, before), memory_of(&bench, after));
            for (side, observed) in bench.run(rule, &case, &before) {
                let what = format!("{rule}, on the {side}");
                assert_memory(&what, &observed.memory, &after);
                let tells = [Cas as u8, Cast as u8, CastSpin as u8].contains(&op);
                let posted = red && !tells && fault == Fault::None;
                assert_eq!(observed.clusters.len(), usize::from(!posted), "{what}: responses");
                let Some(answer) = observed.clusters.first() else { continue };
                assert_eq!(answer.cl_rsp_rd, rd, "{what}: Rd");
                assert_eq!(answer.cl_rsp_pred, pred, "{what}: predicate");
                assert_eq!(
                    (answer.cl_rsp_fault, answer.cl_rsp_tag),
                    (fault as u8, 42),
                    "{what}: fault and tag"
                );
                let named = if fault == Fault::None { 0 } else { addr };
                assert_eq!(answer.cl_rsp_fault_addr, named, "{what}: address");
            }
        },
    );
}
