//! Places reconvergence points for the threads of a warp.
//!
//! PTX does not state reconvergence points. Compilers record the threads in a convergence barrier before a
//! branch (BSSY) and wait at the barrier where all paths join (BSYNC). This module does the same. The
//! reconvergence point of a branch is the first block that all threads reach. Threads that leave a loop in
//! different iterations reconverge after the loop, and their barrier is set before the loop. A branch with
//! the same direction in all threads of the warp needs no barrier.
//!
//! Waits at the barrier are limited: the core releases a thread after a long wait (`Control::Reconverge`). A
//! loop in which a thread waits for another thread gets no reconvergence point. Otherwise the other thread
//! might be waiting at the reconvergence point, which is a deadlock.

pub(crate) mod graph;
pub(crate) mod registers;

use crate::ptx::{Function, Operand, PtxInstruction, RegId};
use crate::translate::flow::graph::{Blocks, Graph};
use crate::translate::flow::registers::{read, written};
use std::collections::{HashMap, HashSet};

/// Convergence barriers that this module uses, from the last one down. Lowered machine code uses those with
/// lower numbers.
const BARRIERS: std::ops::RangeInclusive<u8> = 4..=15;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    /// Convergence barriers to wait at when control enters the block, before the barriers in `set` are set.
    pub(crate) reconverge: Vec<u8>,
    pub(crate) set: Vec<u8>,
    /// Convergence barriers to wait at when control enters the block. At a loop header, also in every
    /// iteration.
    pub(crate) reconverge_inside: Vec<u8>,
}

pub(crate) struct Flow {
    pub(crate) graph: Graph,
    pub(crate) heads: HashMap<usize, Head>,
    pub(crate) before: HashMap<usize, Vec<u8>>,
}

struct ReconvergencePoint {
    /// Position at which the barrier is set: at the end of a block, or before the header of a loop.
    set: Set,
    at: usize,
    region: Blocks,
    number: Option<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Set {
    AtEnd(usize),
    BeforeLoop(usize),
}

impl Flow {
    pub(crate) fn new(function: &Function<'_>) -> Flow {
        let graph = Graph::new(function);
        let mut flow = Flow { graph, heads: HashMap::new(), before: HashMap::new() };
        if !flow.graph.irreducible && !function.instructions.is_empty() {
            flow.plan(function);
        }
        flow
    }

    pub(crate) fn goes_round(&self, from: usize, to: usize) -> bool {
        let of = |i: usize| self.graph.block_of.get(i).copied().unwrap_or(usize::MAX);
        self.graph.goes_round(of(from), of(to))
    }

    fn plan(&mut self, function: &Function<'_>) {
        let graph = &self.graph;
        let divergent = divergent_branches(function, graph);
        let mut branches: Vec<usize> = divergent.ones().filter(|b| graph.reached(*b)).collect();
        // Process dominating branches before those that they dominate.
        branches.sort_by_key(|b| graph.depth(*b));
        let mut reconvergence_points: Vec<ReconvergencePoint> = Vec::new();
        for block in branches {
            let Some(at) = graph.reconvergence_point(block) else { continue };
            // Outermost loop that a path to the reconvergence point leaves.
            let left = graph.loops.iter().rposition(|l| l.blocks.contains(block) && !l.blocks.contains(at));
            let (set, from, within) = match left {
                None => (Set::AtEnd(block), block, graph.innermost(block)),
                Some(number) => {
                    let l = &graph.loops[number];
                    if waits(function, graph, number) {
                        continue;
                    }
                    (Set::BeforeLoop(number), l.header, graph.outer(number))
                }
            };
            // An existing reconvergence point at the same block is enough if its branch is on all paths to
            // this branch.
            let covered = reconvergence_points.iter().filter(|m| m.at == at).any(|m| {
                let (origin, inside) = match m.set {
                    Set::AtEnd(b) => (b, graph.innermost(b)),
                    Set::BeforeLoop(n) => (graph.loops[n].header, graph.outer(n)),
                };
                m.set == set || (inside == within && graph.dominates(origin, from))
            });
            if covered {
                continue;
            }
            let mut region = graph.between(from, Some(at));
            region.insert(from);
            reconvergence_points.push(ReconvergencePoint { set, at, region, number: None });
        }
        for index in 0..reconvergence_points.len() {
            let (earlier, rest) = reconvergence_points.split_at_mut(index);
            let Some(reconvergence_point) = rest.first_mut() else { break };
            let clash = |other: &&ReconvergencePoint| {
                other.region.ones().any(|b| reconvergence_point.region.contains(b))
                    || other.at == reconvergence_point.at
            };
            let taken: HashSet<u8> = earlier.iter().filter(clash).filter_map(|m| m.number).collect();
            reconvergence_point.number = BARRIERS.rev().find(|n| !taken.contains(n));
        }
        // Of several reconvergence points at one block, the inner ones come first.
        reconvergence_points.sort_by_key(|m| match m.set {
            Set::AtEnd(block) => std::cmp::Reverse(graph.depth(block)),
            Set::BeforeLoop(n) => std::cmp::Reverse(graph.depth(graph.loops[n].header)),
        });
        for reconvergence_point in &reconvergence_points {
            let Some(number) = reconvergence_point.number else { continue };
            let inside = match reconvergence_point.set {
                Set::AtEnd(block) => {
                    let end = graph.blocks[block].end;
                    self.before.entry(end - 1).or_default().push(number);
                    graph.loops.iter().any(|l| l.header == reconvergence_point.at && l.blocks.contains(block))
                }
                Set::BeforeLoop(n) => {
                    let header = graph.loops[n].header;
                    let first = graph.blocks[header].first;
                    self.heads.entry(first).or_default().set.push(number);
                    graph
                        .loops
                        .iter()
                        .any(|l| l.header == reconvergence_point.at && l.blocks.contains(header))
                }
            };
            let head = self.heads.entry(graph.blocks[reconvergence_point.at].first).or_default();
            if inside { head.reconverge_inside.push(number) } else { head.reconverge.push(number) }
        }
    }
}

/// Returns the blocks with a branch at their end for which threads of a warp may go in different directions.
fn divergent_branches(function: &Function<'_>, graph: &Graph) -> Blocks {
    let count = graph.blocks.len();
    let mut differs: HashSet<RegId> = HashSet::new();
    let mut parted = Blocks::with_capacity(count);
    let mut branches = Blocks::with_capacity(count);
    let mut changed = true;
    while changed {
        changed = false;
        for (number, block) in graph.blocks.iter().enumerate() {
            for i in function.instructions.get(block.first..block.end).unwrap_or(&[]) {
                let apart = parted.contains(number)
                    || own_value(function, i)
                    || read(i).iter().any(|id| differs.contains(id));
                if apart {
                    for id in written(i) {
                        changed |= differs.insert(id);
                    }
                }
            }
            let Some(last) = function.instructions.get(block.end - 1) else { continue };
            let ways = block.next.iter().filter(|n| **n < count && graph.reconverges(**n)).count();
            let condition = read(last).iter().any(|id| differs.contains(id));
            let branch = matches!(last.opcode, "bra" | "brx") && !last.modifiers.contains(&"uni");
            if branch && ways > 1 && condition && !branches.put(number) {
                changed = true;
                parted.union_with(&graph.between(number, graph.reconvergence_point(number)));
            }
        }
    }
    branches
}

impl Graph {
    /// True if threads that diverge at this block have a reconvergence point, or go directly to the end of
    /// the kernel.
    fn reconverges(&self, block: usize) -> bool {
        let returns = self.blocks.get(block).is_some_and(|b| b.next.contains(&self.blocks.len()));
        returns || self.reconvergence_point(block).is_some()
    }
}

/// Special registers whose value is the same in all threads of a warp.
const UNIFORM: &[&str] = &[
    "ctaid",
    "ntid",
    "nctaid",
    "clusterid",
    "nclusterid",
    "cluster_ctaid",
    "cluster_nctaid",
    "cluster_ctarank",
    "cluster_nctarank",
    "warpid",
    "nwarpid",
    "smid",
    "nsmid",
    "gridid",
    "dynamic_smem_size",
    "total_smem_size",
    "is_explicit_cluster",
    "envreg1",
    "envreg2",
];

/// True if the result may differ between threads although all operands are equal.
fn own_value(function: &Function<'_>, i: &PtxInstruction<'_>) -> bool {
    match i.opcode {
        "ld" => {
            let param = |operand: &Operand<'_>| {
                matches!(operand, Operand::Address { base: crate::ptx::Base::Symbol(symbol), .. }
                    if matches!(symbol, crate::ptx::Symbol::Local(n) if (*n as usize) < function.params))
            };
            !(i.modifiers.contains(&"param") && i.operands.iter().any(param))
        }
        "atom" | "shfl" | "vote" | "match" | "redux" | "activemask" | "elect" | "mbarrier" | "bar"
        | "barrier" => true,
        _ => i.operands.iter().any(|operand| match operand {
            Operand::Special(name) => {
                let name = name.split('.').next().unwrap_or_default();
                !UNIFORM.contains(&name)
            }
            _ => false,
        }),
    }
}

/// True if threads may wait in this loop for other threads: an exit condition depends on an instruction that
/// reads the same address in every iteration.
fn waits(function: &Function<'_>, graph: &Graph, number: usize) -> bool {
    let Some(this) = graph.loops.get(number) else { return false };
    let body: Vec<&PtxInstruction<'_>> = this
        .blocks
        .ones()
        .filter_map(|b| graph.blocks.get(b))
        .flat_map(|b| function.instructions.get(b.first..b.end).unwrap_or(&[]))
        .collect();
    let mut writers: HashMap<RegId, Vec<&PtxInstruction<'_>>> = HashMap::new();
    for i in &body {
        for id in written(i) {
            writers.entry(id).or_default().push(i);
        }
    }
    let exits = this.blocks.ones().filter_map(|b| graph.blocks.get(b));
    let exits = exits.filter(|b| b.next.iter().any(|n| !this.blocks.contains(*n)));
    let mut left: Vec<RegId> =
        exits.filter_map(|b| function.instructions.get(b.end - 1)).flat_map(read).collect();
    let mut seen: HashSet<RegId> = HashSet::new();
    while let Some(id) = left.pop() {
        if !seen.insert(id) {
            continue;
        }
        for i in writers.get(&id).into_iter().flatten() {
            if asks(i) && read(i).iter().all(|id| stays(*id, &writers, &mut Vec::new())) {
                return true;
            }
            left.extend(read(i));
        }
    }
    false
}

/// True if a loop may use the instruction to poll memory that other threads write: a volatile or ordered
/// load, a test or wait on an mbarrier object, or an atomic that may leave memory unchanged.
fn asks(i: &PtxInstruction<'_>) -> bool {
    let has = |names: &[&str]| i.modifiers.iter().any(|m| names.contains(m));
    match i.opcode {
        "ld" => has(&["volatile", "relaxed", "acquire", "mmio"]),
        "mbarrier" => has(&["test_wait", "try_wait"]),
        "atom" => {
            let zero = matches!(i.operands.get(2), Some(Operand::Integer(0)));
            has(&["cas", "exch", "or", "and"]) || (zero && has(&["add", "xor", "max"]))
        }
        _ => false,
    }
}

fn stays(id: RegId, writers: &HashMap<RegId, Vec<&PtxInstruction<'_>>>, open: &mut Vec<RegId>) -> bool {
    let Some(list) = writers.get(&id) else { return true };
    if open.contains(&id) || open.len() > 16 {
        return false;
    }
    open.push(id);
    let pure = |i: &PtxInstruction<'_>| {
        !matches!(
            i.opcode,
            "ld" | "atom" | "shfl" | "vote" | "match" | "redux" | "activemask" | "elect" | "mbarrier"
        )
    };
    let same = list.iter().all(|i| pure(i) && read(i).iter().all(|id| stays(*id, writers, open)));
    open.pop();
    same
}
