//! Control flow of a function: blocks, dominators, loops.

use crate::ptx::{Function, Instruction, LabelId, Operand};

/// Functions of more blocks go without meetings: finding them takes time and memory that grow with the square.
const MOST_BLOCKS: usize = 2048;

/// A set of blocks.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Blocks(Vec<bool>);

impl Blocks {
    pub(super) fn none(count: usize) -> Blocks {
        Blocks(vec![false; count])
    }

    pub(super) fn has(&self, block: usize) -> bool {
        self.0.get(block).copied().unwrap_or(false)
    }

    /// Adds a block; `true` if it is new.
    pub(super) fn add(&mut self, block: usize) -> bool {
        self.0.get_mut(block).is_some_and(|there| !std::mem::replace(there, true))
    }

    pub(super) fn add_all(&mut self, others: &Blocks) {
        self.0.iter_mut().zip(&others.0).for_each(|(there, other)| *there |= other);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().filter(|(_, there)| **there).map(|(block, _)| block)
    }
}

/// Instructions that are entered at the first and left after the last.
pub(super) struct Block {
    pub(super) first: usize,
    /// The one after the last.
    pub(super) end: usize,
    /// Blocks that may come next; the number of blocks stands for the end of the thread.
    pub(super) next: Vec<usize>,
}

/// A loop: blocks from which its header is reached again without leaving it.
pub(super) struct Loop {
    pub(super) header: usize,
    pub(super) blocks: Blocks,
    pub(super) size: usize,
}

pub(super) struct Graph {
    pub(super) blocks: Vec<Block>,
    /// Block of each instruction.
    pub(super) block_of: Vec<usize>,
    /// Immediate dominator of each block that is reached.
    pub(super) dominator: Vec<Option<usize>>,
    /// First block through which every thread comes that does not end before; none where there is none.
    pub(super) meeting: Vec<Option<usize>>,
    /// Inner loops first.
    pub(super) loops: Vec<Loop>,
    /// A loop has two entries, or there are too many blocks to look.
    pub(super) irreducible: bool,
}

/// Where an instruction may go on besides the next; `None` where it goes on at the next alone.
pub(super) fn targets(function: &Function<'_>, instruction: &Instruction<'_>) -> Option<Vec<usize>> {
    let at = |label: &LabelId| function.labels.get(label.0 as usize).map(|l| l.at as usize);
    match instruction.opcode {
        "bra" | "brx" => {
            let mut found = Vec::new();
            for operand in &instruction.operands {
                match operand {
                    Operand::Label(label) => found.extend(at(label)),
                    Operand::Targets(table) => {
                        let table = function.branch_targets.get(*table as usize);
                        found.extend(table.into_iter().flatten().filter_map(at));
                    }
                    _ => {}
                }
            }
            Some(found)
        }
        "exit" | "ret" | "trap" => Some(Vec::new()),
        _ => None,
    }
}

impl Graph {
    pub(super) fn new(function: &Function<'_>) -> Graph {
        let instructions = &function.instructions;
        let count = instructions.len();
        let mut leader = vec![false; count + 1];
        leader[0] = true;
        for (i, instruction) in instructions.iter().enumerate() {
            if let Some(targets) = targets(function, instruction) {
                leader[i + 1] = true;
                targets.into_iter().for_each(|t| leader[t.min(count)] = true);
            }
        }
        let firsts: Vec<usize> = (0..count).filter(|i| leader[*i]).collect();
        let mut block_of = vec![0; count + 1];
        let mut number = 0;
        for (i, block) in block_of.iter_mut().enumerate().take(count) {
            number += usize::from(leader[i]);
            *block = number - 1;
        }
        block_of[count] = firsts.len();
        let blocks: Vec<Block> = firsts
            .iter()
            .enumerate()
            .map(|(b, first)| {
                let end = firsts.get(b + 1).copied().unwrap_or(count);
                let last = &instructions[end - 1];
                let mut next: Vec<usize> = match targets(function, last) {
                    None => Vec::new(),
                    Some(targets) => targets.into_iter().map(|t| block_of[t.min(count)]).collect(),
                };
                let falls = last.guard.is_some() || targets(function, last).is_none();
                if falls {
                    next.push(block_of[end]);
                } else if last.opcode == "ret" || last.opcode == "exit" {
                    next.push(firsts.len());
                }
                next.sort_unstable();
                next.dedup();
                Block { first: *first, end, next }
            })
            .collect();
        let mut graph = Graph {
            dominator: vec![None; blocks.len()],
            meeting: vec![None; blocks.len()],
            loops: Vec::new(),
            irreducible: false,
            blocks,
            block_of,
        };
        if graph.blocks.len() > MOST_BLOCKS {
            graph.irreducible = true;
            return graph;
        }
        graph.find_dominators();
        graph.find_meetings();
        graph.find_loops();
        graph
    }

    fn find_dominators(&mut self) {
        let count = self.blocks.len();
        let next: Vec<Vec<usize>> =
            self.blocks.iter().map(|b| b.next.iter().copied().filter(|n| *n < count).collect()).collect();
        self.dominator = dominators(&next, 0);
    }

    /// Post-dominators. Blocks from which no thread comes to the end by itself (`trap`, endless loops) do not
    /// count: nobody waits for those who go there.
    fn find_meetings(&mut self) {
        let end = self.blocks.len();
        let mut back: Vec<Vec<usize>> = vec![Vec::new(); end + 1];
        for (block, b) in self.blocks.iter().enumerate() {
            b.next.iter().for_each(|n| back[*n].push(block));
        }
        let found = dominators(&back, end);
        self.meeting = found.into_iter().take(end).map(|m| m.filter(|m| *m != end)).collect();
    }

    /// Whether every way to `b` leads through `a`.
    pub(super) fn dominates(&self, a: usize, b: usize) -> bool {
        let mut at = Some(b);
        while let Some(block) = at {
            if block == a {
                return true;
            }
            at = self.dominator.get(block).copied().flatten().filter(|d| *d != block);
        }
        false
    }

    fn find_loops(&mut self) {
        let count = self.blocks.len();
        let mut back: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (block, b) in self.blocks.iter().enumerate() {
            b.next.iter().filter(|n| **n < count).for_each(|n| back[*n].push(block));
        }
        let order = order(&self.blocks.iter().map(|b| b.next.clone()).collect::<Vec<_>>(), 0);
        let mut number = vec![usize::MAX; count + 1];
        order.iter().enumerate().for_each(|(n, block)| number[*block] = n);
        let mut loops: Vec<Loop> = Vec::new();
        for (from, b) in self.blocks.iter().enumerate() {
            if number[from] == usize::MAX {
                continue;
            }
            for header in b.next.iter().copied().filter(|n| *n < count) {
                // In reverse post-order every edge backwards belongs to a loop.
                if number[header] > number[from] {
                    continue;
                }
                if !self.dominates(header, from) {
                    self.irreducible = true;
                    continue;
                }
                let mut blocks = Blocks::none(count);
                blocks.add(header);
                let mut left = vec![from];
                while let Some(block) = left.pop() {
                    if blocks.add(block) {
                        left.extend(back[block].iter().copied().filter(|p| number[*p] != usize::MAX));
                    }
                }
                match loops.iter_mut().find(|l| l.header == header) {
                    Some(same) => same.blocks.add_all(&blocks),
                    None => loops.push(Loop { header, blocks, size: 0 }),
                }
            }
        }
        loops.iter_mut().for_each(|l| l.size = l.blocks.iter().count());
        loops.sort_by_key(|l| l.size);
        self.loops = loops;
    }

    /// The innermost loop that a block is in.
    pub(super) fn innermost(&self, block: usize) -> Option<usize> {
        self.loops.iter().position(|l| l.blocks.has(block))
    }

    /// Whether going from the first block to the second goes round a loop.
    pub(super) fn goes_round(&self, from: usize, to: usize) -> bool {
        self.loops.iter().any(|l| l.header == to && l.blocks.has(from))
    }

    /// Blocks that are reached after `from` before `to`.
    pub(super) fn between(&self, from: usize, to: Option<usize>) -> Blocks {
        let count = self.blocks.len();
        let mut found = Blocks::none(count);
        let mut left = vec![from];
        while let Some(block) = left.pop() {
            let next = self.blocks.get(block).map_or(&[][..], |b| &b.next);
            for n in next.iter().copied().filter(|n| *n < count && Some(*n) != to) {
                if found.add(n) {
                    left.push(n);
                }
            }
        }
        found
    }
}

/// Nodes that are reached, each before those it leads to unless they lead back to it.
fn order(next: &[Vec<usize>], root: usize) -> Vec<usize> {
    let mut seen = vec![false; next.len().max(root) + 2];
    let mut order = Vec::new();
    let mut open = vec![(root, 0)];
    seen[root] = true;
    while let Some((node, child)) = open.pop() {
        match next.get(node).and_then(|n| n.get(child)) {
            Some(to) => {
                open.push((node, child + 1));
                if !std::mem::replace(&mut seen[*to], true) {
                    open.push((*to, 0));
                }
            }
            None => order.push(node),
        }
    }
    order.reverse();
    order
}

/// Immediate dominators, by the algorithm of Cooper, Harvey and Kennedy; the root has itself.
fn dominators(next: &[Vec<usize>], root: usize) -> Vec<Option<usize>> {
    let order = order(next, root);
    let count = next.len();
    let mut number = vec![usize::MAX; count];
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (n, node) in order.iter().enumerate() {
        if let Some(slot) = number.get_mut(*node) {
            *slot = n;
        }
    }
    for node in &order {
        for to in next.get(*node).into_iter().flatten() {
            if let Some(list) = before.get_mut(*to) {
                list.push(*node);
            }
        }
    }
    let mut found: Vec<Option<usize>> = vec![None; count];
    if let Some(slot) = found.get_mut(root) {
        *slot = Some(root);
    }
    let mut changed = true;
    while changed {
        changed = false;
        for node in order.iter().copied().skip(1).filter(|n| *n < count) {
            let mut new: Option<usize> = None;
            for from in before[node].iter().copied().filter(|p| found[*p].is_some()) {
                new = Some(new.map_or(from, |other| common(&found, &number, from, other)));
            }
            if new.is_some() && found[node] != new {
                found[node] = new;
                changed = true;
            }
        }
    }
    found
}

/// The nearest node that dominates both.
fn common(found: &[Option<usize>], number: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let up = |n: usize| found[n].unwrap_or(n);
        if number[a] > number[b] {
            a = up(a);
        } else {
            b = up(b);
        }
    }
    a
}
