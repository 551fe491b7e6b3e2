//! Translation of barriers, fences, and instructions that exchange values between the lanes of a warp.

use super::ordering;
use super::unit::{FunctionUnit, imm};
use super::{Fail, Mods};
use crate::kernel::control::{
    BlockBarrier, Collective, Control, FloatRedux, ReduxOp, SyncWay, VoteMode, WarpOp,
};
use crate::kernel::instruction::Operation;
use crate::kernel::register::{Pred, PredSource, Reg, UReg};
use crate::kernel::source::Source;
use crate::ptx::{PtxInstruction, Type};

impl<'t> FunctionUnit<'_, 't> {
    pub(super) fn direct(&mut self, i: &PtxInstruction<'t>) -> Result<bool, Fail> {
        let m = &mut Mods::new(i);
        match i.opcode {
            "exit" | "ret" => {
                m.drop_hints();
                m.done()?;
                self.control(Control::Exit);
            }
            "trap" => self.control(Control::Trap),
            "brkpt" | "prefetch" | "prefetchu" | "applypriority" | "discard" | "griddepcontrol"
            | "pmevent" | "setmaxnreg" => self.control(Control::Nop),
            // A cache policy has no effect in the core, so its value is zero.
            "createpolicy" => {
                let (dst, _) = self.outputs(m.operand(0)?)?;
                self.move_to(dst, imm(0));
            }
            "nanosleep" => {
                m.ty()?;
                m.done()?;
                let nanoseconds = self.source(m.operand(0)?)?;
                self.control(Control::Sleep { nanoseconds, watch: false });
            }
            "membar" | "fence" => {
                // The core orders all accesses, so only an observer needs the order.
                let order = ordering::fence(m, i.opcode == "membar").ok_or(Fail::Unsupported)?;
                self.ordering = Some(order);
                self.control(Control::Fence);
            }
            "bar" | "barrier" => self.barrier(m)?,
            "activemask" => {
                m.ty()?;
                m.done()?;
                let dst = self.output_reg(m.operand(0)?)?;
                let (mode, src) = (VoteMode::Any, PredSource::TRUE);
                self.emit(Operation::Warp(WarpOp::Vote { mode, dst, pred_dst: Pred::PT, src }));
            }
            "vote" => self.vote(m)?,
            "shfl" => self.shuffle(m)?,
            "redux" => self.redux(m)?,
            "match" => self.matching(m)?,
            "elect" => {
                if !m.take("sync") {
                    return Err(Fail::Unsupported);
                }
                m.done()?;
                let members = self.source(m.operand(1)?)?;
                let (dst, pred_dst) = self.outputs(m.operand(0)?)?;
                self.collective(members, WarpOp::Elect { pred_dst, dst: UReg::URZ }, dst.reg());
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn collective(&mut self, members: Source, op: WarpOp, spread: Reg) {
        self.emit(Operation::Collective(Collective { members, op, spread }));
    }

    /// Emits a warp operation. With `members`, which is the mask of a `.sync` instruction, it waits for the
    /// lanes of the mask. Without, it is executed by the converged lanes.
    fn among(&mut self, members: Option<Source>, op: WarpOp) {
        match members {
            Some(members) => self.collective(members, op, Reg::RZ),
            None => self.emit(Operation::Warp(op)),
        }
    }

    fn barrier(&mut self, m: &mut Mods<'_, 't>) -> Result<(), Fail> {
        if m.take("cluster") {
            let arrive = m.either(["arrive", "wait"])?;
            m.take("aligned");
            self.ordering = Some(ordering::cluster_barrier(m, arrive));
            m.done()?;
            if self.arch.number() < 90 {
                return Err(Fail::since("barrier.cluster", 90));
            }
            self.control(if arrive { Control::ClusterArrive } else { Control::ClusterWait });
            return Ok(());
        }
        if m.take("warp") {
            m.take("sync");
            m.done()?;
            let mask = self.source(m.operand(0)?)?;
            self.control(Control::WarpSync { mask, way: SyncWay::Plain });
            return Ok(());
        }
        m.take_any(&["cta"]);
        m.take("aligned");
        match m.next() {
            Some(kind @ ("sync" | "arrive")) => {
                m.done()?;
                let barrier = self.source(m.operand(0)?)?;
                let threads = m.instruction.operands.get(1).map(|t| self.source(t)).transpose()?;
                let wait = kind == "sync";
                self.control(Control::Block(BlockBarrier {
                    barrier,
                    threads,
                    packed: false,
                    wait,
                    vote: None,
                }));
                Ok(())
            }
            Some("red") => self.barrier_vote(m),
            _ => Err(Fail::Unsupported),
        }
    }

    fn barrier_vote(&mut self, m: &mut Mods<'_, 't>) -> Result<(), Fail> {
        let vote = m.next_as()?;
        m.take("aligned");
        m.ty()?;
        m.done()?;
        let barrier = self.source(m.operand(1)?)?;
        let (threads, pred) = match m.instruction.operands.get(3) {
            None => (None, m.operand(2)?),
            Some(pred) => (Some(self.source(m.operand(2)?)?), pred),
        };
        let pred = self.pred_source(pred)?;
        let block = BlockBarrier { barrier, threads, packed: false, wait: true, vote: Some((vote, pred)) };
        self.control(Control::Block(block));
        let output = self.output(m.operand(0)?)?;
        let (dst, pred_dst) = (output.reg(), output.pred());
        self.emit(Operation::Warp(WarpOp::BarrierResult { dst, pred_dst }));
        Ok(())
    }

    /// Translates `match.any.sync.b32 d, a, mask` and `match.all.sync.b32 d|p, a, mask`.
    fn matching(&mut self, m: &mut Mods<'_, 't>) -> Result<(), Fail> {
        let all = !m.either(["any", "all"])?;
        m.take("sync");
        let ty = m.ty()?;
        m.done()?;
        let members = self.source(m.operand(2)?)?;
        let src = self.in_register(m.operand(1)?, ty)?;
        let (dst, pred_dst) = self.outputs(m.operand(0)?)?;
        let dst = dst.reg();
        let wide = ty.bits() == 64;
        self.collective(members, WarpOp::Match { all, wide, dst, pred_dst, src }, Reg::RZ);
        Ok(())
    }

    fn vote(&mut self, m: &mut Mods<'_, 't>) -> Result<(), Fail> {
        let sync = m.take("sync");
        let mode = match m.next() {
            Some("all") => VoteMode::All,
            Some("any" | "ballot") => VoteMode::Any,
            Some("uni") => VoteMode::Eq,
            _ => return Err(Fail::Unsupported),
        };
        m.ty()?;
        m.done()?;
        let members = if sync { Some(self.source(m.operand(2)?)?) } else { None };
        let src = self.pred_source(m.operand(1)?)?;
        let output = self.output(m.operand(0)?)?;
        let (dst, pred_dst) = (output.reg(), output.pred());
        self.among(members, WarpOp::Vote { mode, dst, pred_dst, src });
        Ok(())
    }

    fn shuffle(&mut self, m: &mut Mods<'_, 't>) -> Result<(), Fail> {
        let sync = m.take("sync");
        let mode = m.next_as()?;
        m.ty()?;
        m.done()?;
        let members = if sync { Some(self.source(m.operand(4)?)?) } else { None };
        let (dst, pred_dst) = self.outputs(m.operand(0)?)?;
        let dst = dst.reg();
        let src = self.in_register(m.operand(1)?, Type::B32)?;
        let (lane, control) = (self.source(m.operand(2)?)?, self.source(m.operand(3)?)?);
        self.among(members, WarpOp::Shuffle { mode, dst, pred_dst, src, lane, control });
        Ok(())
    }

    fn redux(&mut self, m: &mut Mods<'_, 't>) -> Result<(), Fail> {
        if !m.take("sync") {
            return Err(Fail::Unsupported);
        }
        let name = m.next().unwrap_or("");
        let ty = m.ty()?;
        let single = ty == Type::F32;
        let float = FloatRedux { absolute: single && m.take("abs"), nan: single && m.take("NaN") };
        m.done()?;
        if single && self.arch.number() < 100 {
            return Err(Fail::since("redux.sync of .f32", 100));
        }
        let op = match (name, ty) {
            ("min", Type::F32) => ReduxOp::MinF(float),
            ("max", Type::F32) => ReduxOp::MaxF(float),
            ("add", Type::U32 | Type::S32) => ReduxOp::Sum,
            ("min", Type::U32) => ReduxOp::MinU,
            ("min", Type::S32) => ReduxOp::MinS,
            ("max", Type::U32) => ReduxOp::MaxU,
            ("max", Type::S32) => ReduxOp::MaxS,
            ("and", Type::B32) => ReduxOp::And,
            ("or", Type::B32) => ReduxOp::Or,
            ("xor", Type::B32) => ReduxOp::Xor,
            _ => return Err(Fail::Unsupported),
        };
        if self.arch.number() < 80 {
            return Err(Fail::since("redux.sync", 80));
        }
        let members = self.source(m.operand(2)?)?;
        let src = self.in_register(m.operand(1)?, ty)?;
        let dst = self.output(m.operand(0)?)?;
        self.collective(members, WarpOp::Redux { op, dst: UReg::URZ, src }, dst.reg());
        Ok(())
    }
}
