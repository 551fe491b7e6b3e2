//! PTX versions: each statement is accepted in the version that introduced it. In the version before, it is
//! refused in the wording of the vendor's assembler [TOOLS].

use atoms_isa::ptx::Module;
use atoms_isa::{Program, lowered};

/// Columns: statement, last version without it, first version with it, name of the feature in the refusal.
#[rustfmt::skip]
const ROWS: &[(&str, &str, &str, &str)] = &[
    ("add.f16 %h1,%h2,%h3;", "4.1", "4.2", "Feature 'f16 arithemetic and compare instructions'"),
    ("add.bf16 %h1,%h2,%h3;", "7.7", "7.8", "Feature 'add.bf16'"),
    ("add.rn.bf16x2 %r1,%r2,%r3;", "7.7", "7.8", "Feature 'add.bf16x2'"),
    ("sub.bf16 %h1,%h2,%h3;", "7.7", "7.8", "Feature 'sub.bf16'"),
    ("mul.bf16 %h1,%h2,%h3;", "7.7", "7.8", "Feature 'mul.bf16'"),
    ("fma.rn.bf16 %h1,%h2,%h3,%h4;", "6.5", "7.0", "Feature '.bf16'"),
    ("fma.rn.relu.f16x2 %r1,%r2,%r3,%r4;", "6.5", "7.0", "Feature '.relu'"),
    ("add.cc.u64 %rd1,%rd2,%rd3;", "4.2", "4.3", "Feature '.cc with 64bit type'"),
    ("madc.lo.u32 %r1,%r2,%r3,%r4;", "2.3", "3.0", "Feature 'madc'"),
    ("mad.lo.cc.u32 %r1,%r2,%r3,%r4;", "2.3", "3.0", "Feature 'mad.cc'"),
    ("add.u16x2 %r1,%r2,%r3;", "7.8", "8.0", "Feature 'add.u16x2'"),
    ("add.s16x2 %r1,%r2,%r3;", "7.8", "8.0", "Feature 'add.s16x2'"),
    ("add.sat.u16x2 %r1,%r2,%r3;", "9.1", "9.2", "Feature 'add.sat'"),
    ("add.u8x4 %r1,%r2,%r3;", "9.1", "9.2", "Feature 'add.u8x4'"),
    ("sub.u8x4 %r1,%r2,%r3;", "9.1", "9.2", "Feature 'sub.u8x4'"),
    ("sub.sat.s8x4 %r1,%r2,%r3;", "9.1", "9.2", "Feature 'sub.s8x4'"),
    ("neg.s8x4 %r1,%r2;", "9.1", "9.2", "Feature 'neg.s8x4'"),
    ("min.u16x2 %r1,%r2,%r3;", "7.8", "8.0", "Feature 'min.u16x2'"),
    ("max.s16x2.relu %r1,%r2,%r3;", "7.8", "8.0", "Feature 'max.relu'"),
    ("min.relu.s32 %r1,%r2,%r3;", "7.8", "8.0", "Feature 'min.relu'"),
    ("min.s8x4 %r1,%r2,%r3;", "9.1", "9.2", "Feature 'min.s8x4'"),
    ("max.u8x4 %r1,%r2,%r3;", "9.1", "9.2", "Feature 'max.u8x4'"),
    ("min.s8x4.relu %r1,%r2,%r3;", "9.1", "9.2", "Feature 'min.relu'"),
    ("tanh.approx.f32 %f1,%f2;", "6.5", "7.0", "Feature 'tanh'"),
    ("tanh.approx.bf16 %h1,%h2;", "7.7", "7.8", "Feature 'tanh.bf16'"),
    ("tanh.approx.bf16x2 %r1,%r2;", "7.7", "7.8", "Feature 'tanh.bf16x2'"),
    ("ex2.approx.f16 %h1,%h2;", "6.5", "7.0", "Feature 'ex2.f16/f16x2'"),
    ("ex2.approx.ftz.bf16 %h1,%h2;", "7.7", "7.8", "Feature 'ex2.bf16'"),
    ("ex2.approx.ftz.bf16x2 %r1,%r2;", "7.7", "7.8", "Feature 'ex2.bf16x2'"),
    ("neg.f16 %h1,%h2;", "5.0", "6.0", "Feature 'neg.f16 or neg.f16x2'"),
    ("neg.bf16x2 %r1,%r2;", "6.5", "7.0", "Feature '.bf16x2'"),
    ("abs.f16 %h1,%h2;", "6.4", "6.5", "Feature 'abs.f16 or abs.f16x2'"),
    ("min.f16 %h1,%h2,%h3;", "6.5", "7.0", "Feature 'min.f16 or min.f16x2'"),
    ("min.NaN.f32 %f1,%f2,%f3;", "6.5", "7.0", "Feature '.NaN'"),
    ("max.xorsign.abs.f32 %f1,%f2,%f3;", "7.1", "7.2", "Feature '.abs'"),
    ("setp.eq.bf16 %p1,%h1,%h2;", "7.7", "7.8", "Feature 'setp.bf16'"),
    ("set.eq.u32.f16 %r1,%h2,%h3;", "6.4", "6.5", "Feature 'half precision floating point set instruction with integer result'"),
    ("set.eq.bf16.bf16 %h1,%h2,%h3;", "7.7", "7.8", "Feature 'set.bf16'"),
    ("cvt.f32.bf16 %f1,%h1;", "7.0", "7.1", "Feature 'cvt with .f32.bf16'"),
    ("cvt.rn.bf16.f16 %h1,%h2;", "7.7", "7.8", "Feature 'cvt with .bf16.f16'"),
    ("cvt.f64.bf16 %d1,%h1;", "7.7", "7.8", "Feature 'cvt with .f64.bf16'"),
    ("cvt.rn.bf16.f64 %h1,%d1;", "7.7", "7.8", "Feature 'cvt with .bf16.f64'"),
    ("cvt.rzi.u32.bf16 %r1,%h1;", "7.7", "7.8", "Feature 'cvt with .u32.bf16'"),
    ("cvt.rn.bf16.u32 %h1,%r1;", "7.7", "7.8", "Feature 'cvt with .bf16.u32'"),
    ("cvt.rni.bf16.bf16 %h1,%h2;", "7.7", "7.8", "Feature 'cvt with .bf16.bf16'"),
    ("cvt.rn.f16x2.f32 %r1,%f1,%f2;", "6.5", "7.0", "Feature 'cvt.f16x2.f32'"),
    ("lop3.b32 %r1,%r2,%r3,%r4,0x80;", "4.2", "4.3", "Feature 'lop3'"),
    ("lop3.or.b32 %r1|%p1,%r2,%r3,%r4,0x80,%p2;", "8.1", "8.2", "Feature 'lop3.<BoolOp>'"),
    ("shf.l.wrap.b32 %r1,%r2,%r3,%r4;", "3.0", "3.1", "Feature 'shf.l'"),
    ("shf.r.clamp.b32 %r1,%r2,%r3,%r4;", "3.0", "3.1", "Feature 'shf.r'"),
    ("fns.b32 %r1,%r2,%r3,%r4;", "5.0", "6.0", "Feature 'fns'"),
    ("bmsk.clamp.b32 %r1,%r2,%r3;", "7.5", "7.6", "Feature 'bmsk'"),
    ("szext.wrap.u32 %r1,%r2,%r3;", "7.5", "7.6", "Feature 'szext'"),
    ("dp4a.u32.u32 %r1,%r2,%r3,%r4;", "4.3", "5.0", "Feature 'dp4a'"),
    ("dp2a.lo.u32.s32 %r1,%r2,%r3,%r4;", "4.3", "5.0", "Feature 'dp2a.lo'"),
    ("vabsdiff2.u32.u32.u32 %r1,%r2,%r3,%r4;", "2.3", "3.0", "Feature '3.0'"),
    ("mov.b128 %q1,%q2;", "8.2", "8.3", "Feature 'Instruction type .b128 for instruction mov'"),
    ("cvta.param.u64 %rd1,%rd2;", "7.6", "7.7", "Feature 'cvta/isspacep with .param state space'"),
    ("cvta.const.u64 %rd1,%rd2;", "3.0", "3.1", "Feature 'cvta/isspacep with .const state space'"),
    ("cvta.shared::cta.u64 %rd1,%rd2;", "7.7", "7.8", "Feature '::cta'"),
    ("cvta.to.shared::cluster.u64 %rd1,%rd2;", "7.7", "7.8", "Feature '::cluster'"),
    ("cvta.param::entry.u64 %rd1,%rd2;", "8.2", "8.3", "Feature '::entry'"),
    ("mapa.shared::cluster.u32 %r1,%r2,%r3;", "7.7", "7.8", "Feature 'mapa'"),
    ("getctarank.shared::cluster.u32 %r1,%r2;", "7.7", "7.8", "Feature 'getctarank'"),
    ("ld.relaxed.gpu.global.u32 %r1,[%rd1];", "5.0", "6.0", "Feature '.relaxed'"),
    ("ld.acquire.gpu.global.u32 %r1,[%rd1];", "5.0", "6.0", "Feature '.acquire'"),
    ("ld.acquire.cluster.global.u32 %r1,[%rd1];", "7.7", "7.8", "Feature '.cluster scope'"),
    ("ld.weak.global.u32 %r1,[%rd1];", "5.0", "6.0", "Feature '.weak'"),
    ("ld.mmio.relaxed.sys.global.u32 %r1,[%rd1];", "8.1", "8.2", "Feature '.mmio'"),
    ("st.release.sys.global.u32 [%rd1],%r1;", "5.0", "6.0", "Feature '.release'"),
    ("ld.global.nc.u32 %r1,[%rd1];", "3.0", "3.1", "Feature '.nc'"),
    ("ld.global.nc.L1::no_allocate.u32 %r1,[%rd1];", "7.3", "7.4", "Modifier '.no_allocate' on 'ld'"),
    ("ld.global.L1::evict_last.u32 %r1,[%rd1];", "7.3", "7.4", "Modifier '.evict_last' on 'ld'"),
    ("ld.global.L2::128B.u32 %r1,[%rd1];", "7.3", "7.4", "Feature 'cache prefetching'"),
    ("ld.global.L2::cache_hint.u32 %r1,[%rd1],%rd2;", "7.3", "7.4", "Modifier '.L2::cache_hint'"),
    ("st.global.L1::evict_first.u32 [%rd1],%r1;", "7.3", "7.4", "Modifier '.evict_first' on 'st'"),
    ("ld.global.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8},[%rd1];", "8.7", "8.8", "Feature '256 bit wide load/store'"),
    ("ld.global.b128 %q1,[%rd1];", "8.2", "8.3", "Feature 'Instruction type .b128 for instruction ld'"),
    ("ld.acquire.sys.global.b128 %q1,[%rd1];", "8.3", "8.4", "Feature '.b128 with .sys'"),
    ("st.global.b128 [%rd1],%q1;", "8.2", "8.3", "Feature 'Instruction type .b128 for instruction st'"),
    ("ldu.global.b128 %q1,[%rd1];", "8.2", "8.3", "Feature 'Instruction type .b128 for instruction ldu'"),
    ("cp.async.ca.shared.global [%r1],[%rd1],4;", "6.5", "7.0", "Feature 'cp.async'"),
    ("cp.async.ca.shared.global [%r1],[%rd1],4,%p1;", "7.4", "7.5", "Feature 'igonre-src on cp.async'"),
    ("cp.async.commit_group;", "6.5", "7.0", "Feature 'cp.async.commit_group'"),
    ("cp.async.wait_group 0;", "6.5", "7.0", "Feature 'cp.async.wait_group'"),
    ("cp.async.wait_all;", "6.5", "7.0", "Feature 'cp.async.wait_all'"),
    ("cp.async.bulk.commit_group;", "7.8", "8.0", "Feature 'cp.async.bulk.commit_group'"),
    ("cp.async.bulk.wait_group 0;", "7.8", "8.0", "Feature 'cp.async.bulk.wait_group'"),
    ("prefetch.global.L2::evict_last [%rd1];", "7.3", "7.4", "Modifier 'cache eviction priority' on 'prefetch'"),
    ("prefetch.param.tensormap [%rd1];", "7.8", "8.0", "Modifier '.tensormap'"),
    ("applypriority.global.L2::evict_normal [%rd1],128;", "7.3", "7.4", "Feature 'applypriority'"),
    ("discard.global.L2 [%rd1],128;", "7.3", "7.4", "Feature 'discard'"),
    ("createpolicy.fractional.L2::evict_last.b64 %rd1,1.0;", "7.3", "7.4", "Feature 'createpolicy.fractional'"),
    ("createpolicy.range.global.L2::evict_last.b64 %rd1,[%rd2],256,256;", "7.3", "7.4", "Feature 'createpolicy.range'"),
    ("createpolicy.cvt.L2.b64 %rd1,%rd2;", "7.3", "7.4", "Feature 'createpolicy.cvt'"),
    ("griddepcontrol.wait;", "7.7", "7.8", "Modifier '.wait'"),
    ("griddepcontrol.launch_dependents;", "7.7", "7.8", "Modifier '.launch_dependents'"),
    ("pmevent.mask 1;", "2.3", "3.0", "Feature 'pmevent.mask'"),
    ("setmaxnreg.inc.sync.aligned.u32 64;", "7.8", "8.0", "Feature 'setmaxnreg.inc'"),
    ("nanosleep.u32 20;", "6.1", "6.2", "Feature 'nanosleep'"),
    ("fence.sc.cta;", "5.0", "6.0", "Feature 'fence instruction'"),
    ("fence.acquire.gpu;", "8.5", "8.6", "Modifier '.acquire' on 'fence'"),
    ("fence.release.cta;", "8.5", "8.6", "Modifier '.release' on 'fence'"),
    ("fence.acquire.sync_restrict::shared::cluster.cluster;", "8.5", "8.6", "Feature '.sync_restrict'"),
    ("fence.proxy.alias;", "7.4", "7.5", "Modifier '.alias'"),
    ("fence.proxy.async;", "7.8", "8.0", "Modifier '.async'"),
    ("fence.proxy.tensormap::generic.release.gpu;", "8.2", "8.3", "Feature 'fence.proxy with unidirection proxy fence'"),
    ("fence.mbarrier_init.release.cluster;", "7.8", "8.0", "Feature '.op_restrict'"),
    ("bar.warp.sync -1;", "5.0", "6.0", "Feature 'bar.warp'"),
    ("barrier.sync 0;", "5.0", "6.0", "Feature 'barrier'"),
    ("barrier.sync.aligned 0;", "5.0", "6.0", "Feature '.aligned'"),
    ("barrier.arrive 0,64;", "5.0", "6.0", "Feature 'barrier.arrive'"),
    ("barrier.red.popc.u32 %r1,0,%p1;", "5.0", "6.0", "Feature 'barrier.red'"),
    ("barrier.cta.sync 0;", "7.7", "7.8", "Feature 'barrier.cta'"),
    ("barrier.cta.arrive 0,64;", "7.7", "7.8", "Feature 'barrier.cta.arrive'"),
    ("barrier.cta.red.and.pred %p1,0,%p2;", "7.7", "7.8", "Feature 'barrier.cta.red'"),
    ("bar.cta.sync 0;", "7.7", "7.8", "Feature 'bar.cta'"),
    ("bar.cta.arrive 0,64;", "7.7", "7.8", "Feature 'bar.cta.arrive'"),
    ("bar.cta.red.and.pred %p1,0,%p2;", "7.7", "7.8", "Feature 'bar.cta.red'"),
    ("barrier.cluster.arrive;", "7.7", "7.8", "Feature 'barrier.cluster.arrive'"),
    ("barrier.cluster.arrive.release;", "7.8", "8.0", "Modifier '.release' on 'barrier.cluster.arrive'"),
    ("barrier.cluster.arrive.relaxed;", "7.8", "8.0", "Modifier '.relaxed' on 'barrier.cluster.arrive'"),
    ("barrier.cluster.wait;", "7.7", "7.8", "Feature 'barrier.cluster.wait'"),
    ("barrier.cluster.wait.acquire;", "7.8", "8.0", "Modifier '.acquire' on 'barrier.cluster.wait'"),
    ("activemask.b32 %r1;", "6.1", "6.2", "Feature 'activemask'"),
    ("vote.sync.any.pred %p1,%p2,-1;", "5.0", "6.0", "Feature 'vote.sync'"),
    ("shfl.sync.up.b32 %r1,%r2,%r3,%r4,-1;", "5.0", "6.0", "Feature 'shfl.sync'"),
    ("redux.sync.add.u32 %r1,%r2,-1;", "6.5", "7.0", "Feature 'redux'"),
    ("redux.sync.min.f32 %f1,%f2,-1;", "8.5", "8.6", "Feature 'redux.f32'"),
    ("match.any.sync.b32 %r1,%r2,-1;", "5.0", "6.0", "Feature 'match'"),
    ("elect.sync %r1|%p1,-1;", "7.8", "8.0", "Feature 'elect'"),
    ("mov.u32 %r1,%clusterid.x;", "7.7", "7.8", "Feature '%clusterid'"),
    ("mov.u32 %r1,%nclusterid.x;", "7.7", "7.8", "Feature '%nclusterid'"),
    ("mov.u32 %r1,%cluster_ctaid.x;", "7.7", "7.8", "Feature '%cluster_ctaid'"),
    ("mov.u32 %r1,%cluster_nctaid.x;", "7.7", "7.8", "Feature '%cluster_nctaid'"),
    ("mov.u32 %r1,%cluster_ctarank;", "7.7", "7.8", "Feature '%cluster_ctarank'"),
    ("mov.u32 %r1,%cluster_nctarank;", "7.7", "7.8", "Feature '%cluster_nctarank'"),
    ("mov.u64 %rd1,%globaltimer;", "3.0", "3.1", "Feature '%globaltimer'"),
    ("mov.u32 %r1,%globaltimer_lo;", "3.0", "3.1", "Feature '%globaltimer_lo'"),
    ("mov.u32 %r1,%globaltimer_hi;", "3.0", "3.1", "Feature '%globaltimer_hi'"),
    ("mov.u32 %r1,%dynamic_smem_size;", "4.0", "4.1", "Feature '%dynamic_smem_size'"),
    ("mov.u32 %r1,%total_smem_size;", "4.0", "4.1", "Feature '%total_smem_size'"),
    ("mov.u32 %r1,%reserved_smem_offset_begin;", "7.5", "7.6", "Feature '%reserved_smem_offset_begin'"),
    ("mov.u32 %r1,%reserved_smem_offset_end;", "7.5", "7.6", "Feature '%reserved_smem_offset_end'"),
    ("mov.u32 %r1,%reserved_smem_offset_cap;", "7.5", "7.6", "Feature '%reserved_smem_offset_cap'"),
    ("mov.u32 %r1,%reserved_smem_offset_0;", "7.5", "7.6", "Feature '%reserved_smem_offset_0'"),
    ("mov.u32 %r1,%clock_hi;", "4.3", "5.0", "Feature '%clock_hi'"),
    ("rsqrt.approx.ftz.f64 %d1,%d2;", "3.2", "4.0", "Feature 'rsqrt.approx.ftz.f64'"),
    ("atom.shared.min.u64 %rd1,[%r2],%rd3;", "3.0", "3.1", "Instruction 'atom.min.u64.shared'"),
    ("atom.shared.max.s64 %rd1,[%r2],%rd3;", "3.0", "3.1", "Instruction 'atom.max.s64.shared'"),
    ("atom.shared.and.b64 %rd1,[%r2],%rd3;", "3.0", "3.1", "Instruction 'atom.and.b64.shared'"),
    ("atom.shared.add.noftz.f32 %f1,[%r2],%f3;", "9.3", "9.4", "Feature 'atom with .noftz and .f32'"),
    ("atom.shared.add.f64 %d1,[%r2],%d3;", "4.3", "5.0", "Instruction 'atom.add.f64.shared'"),
    ("atom.shared.add.noftz.f16 %h1,[%r2],%h3;", "6.2", "6.3", "Instruction 'atom.add.f16.shared'"),
    ("atom.shared.add.noftz.f16x2 %r1,[%r2],%r3;", "6.1", "6.2", "Instruction 'atom.add.f16x2.shared'"),
    ("atom.shared.add.noftz.bf16 %h1,[%r2],%h3;", "7.7", "7.8", "Instruction 'atom.add.bf16.shared'"),
    ("atom.shared.add.noftz.bf16x2 %r1,[%r2],%r3;", "7.7", "7.8", "Instruction 'atom.add.bf16x2.shared'"),
    ("atom.shared.cas.b16 %h1,[%r2],%h3,%h4;", "6.2", "6.3", "Instruction 'atom.cas.b16.shared'"),
    ("atom.shared.exch.b128 %q1,[%r2],%q3;", "8.2", "8.3", "Instruction 'atom.exch.b128.shared'"),
    ("atom.shared.cas.b128 %q1,[%r2],%q3,%q4;", "8.2", "8.3", "Instruction 'atom.cas.b128.shared'"),
    ("atom.relaxed.cluster.global.exch.b128 %q1,[%rd2],%q3;", "8.2", "8.3", "Instruction 'atom.exch.b128.global'"),
    ("atom.gpu.shared.add.u32 %r1,[%r2],%r3;", "4.3", "5.0", "Feature 'scopes on atomic operations'"),
    ("atom.acq_rel.gpu.shared.add.u32 %r1,[%r2],%r3;", "5.0", "6.0", "Feature '.acq_rel'"),
    ("atom.global.v2.f32.add {%f1,%f2},[%rd1],{%f3,%f4};", "8.0", "8.1", "Feature 'atom instruction with vector types'"),
    ("atom.global.v8.f16.min.noftz {%h1,%h2,%h3,%h4,%h5,%h6,%h7,%h8},[%rd1],{%h1,%h2,%h3,%h4,%h5,%h6,%h7,%h8};", "8.0", "8.1", "Instruction 'atom.min.f16.global'"),
    ("atom.global.v2.bf16x2.max.noftz {%r1,%r2},[%rd1],{%r3,%r4};", "8.0", "8.1", "Instruction 'atom.max.bf16x2.global'"),
    ("red.global.v2.f32.add [%rd1],{%f3,%f4};", "8.0", "8.1", "Feature 'red instruction with vector types'"),
    ("red.shared.add.noftz.f16 [%r2],%h3;", "6.2", "6.3", "Instruction 'red.add.f16.shared'"),
    ("red.shared.add.noftz.f16x2 [%r2],%r3;", "6.1", "6.2", "Instruction 'red.add.f16x2.shared'"),
    ("red.shared.add.noftz.bf16 [%r2],%h3;", "7.7", "7.8", "Instruction 'red.add.bf16.shared'"),
    ("red.shared.min.s64 [%r2],%rd3;", "3.0", "3.1", "Instruction 'red.min.s64.shared'"),
    ("red.shared.add.f64 [%r2],%d3;", "4.3", "5.0", "Instruction 'red.add.f64.shared'"),
    ("mbarrier.init.shared.b64 [%r1],%r2;", "6.5", "7.0", "Feature 'mbarrier.init'"),
    ("mbarrier.init.layout::v0.shared.b64 [%r1],%r2;", "9.2", "9.3", "Feature '.layout::v0'"),
    ("mbarrier.inval.shared.b64 [%r1];", "6.5", "7.0", "Feature 'mbarrier.inval'"),
    ("mbarrier.check_layout.layout::v0.shared.b64 %p1,[%r1];", "9.2", "9.3", "Feature 'mbarrier.check_layout'"),
    ("mbarrier.arrive.shared.b64 %rd1,[%r1];", "6.5", "7.0", "Feature 'mbarrier.arrive'"),
    ("mbarrier.arrive.shared.b64 _,[%r1];", "7.0", "7.1", "Result discard mode is not allowed for instruction 'mbarrier.arrive'"),
    ("mbarrier.arrive.shared.b64 %rd1,[%r1],%r2;", "7.7", "7.8", "Feature 'mbarrier.arrive with count argument and without '.noComplete' modifier'"),
    ("mbarrier.arrive.shared::cluster.b64 _,[%r1];", "7.8", "8.0", "Feature '.shared::cluster'"),
    ("mbarrier.arrive.release.cta.shared.b64 %rd1,[%r1];", "7.8", "8.0", "Modifier '.release' on 'mbarrier.arrive'"),
    ("mbarrier.arrive.relaxed.cta.shared.b64 %rd1,[%r1];", "8.5", "8.6", "Modifier '.relaxed' on 'mbarrier.arrive'"),
    ("mbarrier.arrive.expect_tx.shared.b64 %rd1,[%r1],%r2;", "7.8", "8.0", "Feature 'mbarrier.arrive.expect_tx'"),
    ("mbarrier.arrive_drop.shared.b64 %rd1,[%r1];", "6.5", "7.0", "Feature 'mbarrier.arrive_drop'"),
    ("mbarrier.arrive_drop.expect_tx.relaxed.cta.shared.b64 %rd1,[%r1],%r2;", "8.5", "8.6", "Modifier '.relaxed' on 'mbarrier.arrive_drop.expect_tx'"),
    ("mbarrier.test_wait.shared.b64 %p1,[%r1],%rd1;", "6.5", "7.0", "Feature 'mbarrier.test_wait'"),
    ("mbarrier.test_wait.parity.shared.b64 %p1,[%r1],%r2;", "7.0", "7.1", "Feature 'mbarrier.test_wait.parity'"),
    ("mbarrier.test_wait.acquire.cta.shared.b64 %p1,[%r1],%rd1;", "7.8", "8.0", "Modifier '.acquire' on 'mbarrier.test_wait'"),
    ("mbarrier.test_wait.phase_type::primary.shared.b64 %p1,[%r1],%rd1;", "9.2", "9.3", "Feature '.phase_type::primary'"),
    ("mbarrier.try_wait.shared.b64 %p1,[%r1],%rd1;", "7.7", "7.8", "Feature 'mbarrier.try_wait'"),
    ("mbarrier.try_wait.parity.shared.b64 %p1,[%r1],%r2;", "7.7", "7.8", "Feature 'mbarrier.try_wait.parity'"),
    ("mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1],%r2;", "7.8", "8.0", "Feature 'mbarrier.expect_tx'"),
    ("mbarrier.complete_tx.shared.b64 [%r1],%r2;", "7.8", "8.0", "Feature 'mbarrier.complete_tx'"),
    ("mbarrier.pending_count.b64 %r1,%rd1;", "6.5", "7.0", "Feature 'mbarrier.pending_count'"),
    ("cp.async.mbarrier.arrive.shared.b64 [%r1];", "6.5", "7.0", "Feature 'cp.async.mbarrier.arrive'"),
    ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1],[%rd1],%r2,[%r3];", "7.8", "8.0", "Feature 'cp.async.bulk'"),
    ("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1],[%rd1],%r2,[%r3];", "8.5", "8.6", "Feature 'cp.async.bulk with destination state space as .shared::cta'"),
    ("cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1],[%r1],%r2,%h1;", "8.5", "8.6", "Feature '.cp_mask'"),
    ("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1],[%r2],%r3;", "7.8", "8.0", "Feature 'cp.reduce.async.bulk'"),
    ("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r1],%r2,[%r3];", "8.0", "8.1", "Feature 'st.async'"),
    ("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1],%r2,[%r3];", "8.0", "8.1", "Feature 'red.async'"),
    ("fence.proxy.async;", "7.8", "8.0", "Modifier '.async'"),
];

fn module(version: &str, statement: &str) -> String {
    format!(
        ".version {version}\n.target sm_120a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n.reg .b16 %h<9>;\n\
         .reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n.reg .f32 %f<20>;\n.reg .f64 %d<9>;\n.reg .pred %p<9>;\n.reg .b128 %q<5>;\n\
         {statement}\nret;\n}}\n"
    )
}

#[test]
fn each_statement_begins_with_its_version() {
    let mut wrong = Vec::new();
    for (statement, before, first, subject) in ROWS {
        let expected = match subject.starts_with("Result") {
            true => subject.to_string(),
            false => format!("{subject} requires PTX ISA .version {first} or later"),
        };
        match Program::from_ptx("k.ptx", &module(before, statement), None) {
            Ok(_) => wrong.push(format!("{statement} is taken in {before}")),
            Err(error) => {
                let problem = &error.problems[0];
                if problem.message != expected || !problem.help.contains(&format!(".version {first}")) {
                    wrong.push(format!("{statement} in {before}: {problem}, {}", problem.help));
                }
            }
        }
        match Program::from_ptx("k.ptx", &module(first, statement), None) {
            Err(error) => wrong.push(format!("{statement} is not taken in {first}: {error}")),
            Ok(program) if program.kernels[0].unsupported().next().is_some() => {
                wrong.push(format!("{statement} is not known"));
            }
            Ok(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `lowered` checks the instructions of a module against the version of the module. Loose instructions may
/// use every version.
#[test]
fn lowering_looks_at_the_version() {
    for (version, taken) in [("7.0", false), ("8.6", true)] {
        let text = module(version, "mbarrier.try_wait.shared::cta.b64 %p1, [%r1], %rd1;");
        let module = Module::parse("k.ptx", &text).unwrap();
        let kernel = module.kernel("k").unwrap();
        let found = lowered(&module, kernel, module.target, None);
        assert_eq!(found.iter().map(|l| l.result.is_ok()).collect::<Vec<_>>(), [taken], "{version}");
    }
    let loose = atoms_isa::ptx::snippet("mbarrier.try_wait.shared::cta.b64 %p1, [%r1], %rd1;").unwrap();
    let nowhere = Module::parse("n", ".version 1.0\n.target sm_90\n.address_size 64\n").unwrap();
    assert!(lowered(&nowhere, &loose, nowhere.target, None)[0].result.is_ok());
}
