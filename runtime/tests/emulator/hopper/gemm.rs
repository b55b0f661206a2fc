//! A GEMM as Hopper's are: one warpgroup loads stages by TMA, two multiply them by `wgmma`. C = A B^T, in tiles of 128 x 128 x 64, of `f16`
//! that are small integers, so that sums are exact.

use super::*;
use cute_runtime::tensor_map::{Interleave, L2Promotion, MapElement, MapSwizzle, OobFill};

const STAGES: usize = 3;
/// Bytes of a stage: a tile of A, and one of B.
const STAGE: usize = 32768;
const TILE: usize = 128;

#[derive(Clone, Copy)]
struct Gemm {
    m: usize,
    n: usize,
    k: usize,
}

fn value(operand: usize, row: usize, k: usize) -> i32 {
    ((row * 3 + k * 5 + operand * row * k) % 5) as i32 - 2
}

impl Gemm {
    fn matrix(self, operand: usize) -> Vec<u8> {
        let rows = [self.m, self.n][operand];
        let elements = (0..rows).flat_map(|row| (0..self.k).map(move |k| value(operand, row, k)));
        elements
            .flat_map(|x| half::f16::from_f32(x as f32).to_bits().to_le_bytes())
            .collect()
    }

    fn map(self, operand: usize) -> TensorMap {
        TensorMap {
            element: MapElement::F16,
            address: operand as u64,
            sizes: vec![self.k as u64, [self.m, self.n][operand] as u64],
            strides: vec![self.k as u64 * 2],
            box_sizes: vec![64, TILE as u32],
            element_strides: vec![1, 1],
            im2col: None,
            interleave: Interleave::None,
            swizzle: MapSwizzle::B128,
            l2_promotion: L2Promotion::B128,
            oob_fill: OobFill::Zero,
        }
    }

    fn body(self) -> String {
        let columns = self.n / TILE;
        let turns = self.k / 64;
        let registers: Vec<String> = (100..164).map(|i| format!("%r{i}")).collect();
        let accumulators = registers.join(", ");
        let products: String = (0..4)
            .map(|step| {
                let scale = if step == 0 { "%p5" } else { "%p6" };
                format!(
                    "add.s64 %s22, %s20, {0}; add.s64 %s23, %s21, {0};
                    wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {{{accumulators}}}, %s22, %s23, {scale}, 1, 1, 0, 0;\n",
                    2 * step
                )
            })
            .collect();
        let stores: String = (0..32)
            .map(|pair| {
                let (j, half) = (pair / 2, pair % 2);
                let at = j * 32 + half * 8 * self.n * 4;
                let first = 100 + 4 * j + 2 * half;
                format!(
                    "st.global.v2.b32 [%s40+{at}], {{%r{first}, %r{}}};\n",
                    first + 1
                )
            })
            .collect();
        let next = |label: &str| {
            format!(
                "add.u32 %r12, %r12, 1; setp.ne.u32 %p3, %r12, {STAGES}; @%p3 bra {label}; mov.u32 %r12, 0; xor.b32 %r13, %r13, 1; {label}:"
            )
        };
        format!(
            "setp.ne.u32 %p0, %r0, 0; @%p0 bra READY;
            mbarrier.init.shared::cta.b64 [%s0], 1; mbarrier.init.shared::cta.b64 [%s0+8], 1; mbarrier.init.shared::cta.b64 [%s0+16], 1;
            mbarrier.init.shared::cta.b64 [%s0+64], 2; mbarrier.init.shared::cta.b64 [%s0+72], 2; mbarrier.init.shared::cta.b64 [%s0+80], 2;
            fence.mbarrier_init.release.cluster;
            READY: bar.sync 0;
            mov.u32 %r1, %ctaid.x; div.u32 %r15, %r1, {columns}; rem.u32 %r16, %r1, {columns}; mul.lo.u32 %r15, %r15, 128; mul.lo.u32 %r16, %r16, 128;
            mov.u32 %r11, 0; mov.u32 %r12, 0; shr.u32 %r10, %r0, 7; setp.ne.u32 %p1, %r10, 0; @%p1 bra CONSUMER;
            setmaxnreg.dec.sync.aligned.u32 40; @%p0 bra END; mov.u32 %r13, 1;
            LOAD: mul.wide.u32 %s10, %r12, 8; add.s64 %s10, %s0, %s10; mul.wide.u32 %s11, %r12, {STAGE}; add.s64 %s11, %s0, %s11;
            EMPTY: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%s10+64], %r13; @!%p2 bra EMPTY;
            mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s10], {STAGE}; mul.lo.u32 %r14, %r11, 64;
            cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%s11+1024], [%s80, {{%r14, %r15}}], [%s10];
            cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%s11+17408], [%s81, {{%r14, %r16}}], [%s10];
            {}
            add.u32 %r11, %r11, 1; setp.lt.u32 %p4, %r11, {turns}; @%p4 bra LOAD;
            END: ret;
            CONSUMER: setmaxnreg.inc.sync.aligned.u32 232; mov.u32 %r13, 0; and.b32 %r17, %r0, 127; setp.ne.u32 %p7, %r17, 0; setp.eq.u32 %p6, %r0, %r0;
            sub.u32 %r10, %r10, 1; mul.wide.u32 %s12, %r10, 8192; mov.b64 %s24, {}; mov.u64 %s13, 0;
            MULTIPLY: mul.wide.u32 %s10, %r12, 8; add.s64 %s10, %s0, %s10; mul.wide.u32 %s11, %r12, {STAGE}; add.s64 %s11, %s0, %s11;
            FULL: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%s10], %r13; @!%p2 bra FULL;
            add.s64 %s20, %s11, %s12; add.s64 %s20, %s20, 1024; shr.u64 %s20, %s20, 4; or.b64 %s20, %s20, %s24;
            add.s64 %s21, %s11, 17408; shr.u64 %s21, %s21, 4; or.b64 %s21, %s21, %s24;
            setp.ne.u32 %p5, %r11, 0;
            wgmma.fence.sync.aligned;
            {products}
            wgmma.commit_group.sync.aligned;
            wgmma.wait_group.sync.aligned 1;
            setp.eq.u32 %p8, %r11, 0; or.pred %p8, %p8, %p7; @%p8 bra KEPT; mbarrier.arrive.shared::cta.b64 _, [%s13+64];
            KEPT: mov.u64 %s13, %s10;
            {}
            add.u32 %r11, %r11, 1; setp.lt.u32 %p4, %r11, {turns}; @%p4 bra MULTIPLY;
            wgmma.wait_group.sync.aligned 0;
            and.b32 %r20, %r0, 31; shr.u32 %r21, %r17, 5; shr.u32 %r22, %r20, 2; and.b32 %r23, %r20, 3;
            mad.lo.u32 %r24, %r10, 64, %r15; mad.lo.u32 %r24, %r21, 16, %r24; add.u32 %r24, %r24, %r22; mad.lo.u32 %r25, %r23, 2, %r16;
            mad.lo.u32 %r26, %r24, {}, %r25; mul.wide.u32 %s40, %r26, 4; add.s64 %s40, %s92, %s40;
            {stores} ret;",
            next("PNEXT"),
            // 128-byte swizzle, 1024 bytes from 8 rows to the next.
            1u64 << 62 | 64u64 << 32 | 1 << 16,
            next("CNEXT"),
            self.n,
        )
    }

    fn run(self) -> Hopper {
        let mut run = hopper(&self.body())
            .input(self.matrix(0))
            .input(self.matrix(1))
            .output(self.m * self.n * 4)
            .map(self.map(0))
            .map(self.map(1))
            .block(384)
            .smem((1024 + STAGES * STAGE) as u32);
        run.grid = (self.m / TILE * (self.n / TILE)) as u32;
        run
    }

    fn check(self, found: &[u8]) {
        let found = words(found);
        for row in 0..self.m {
            for column in 0..self.n {
                let sum: i32 = (0..self.k)
                    .map(|k| value(0, row, k) * value(1, column, k))
                    .sum();
                assert_eq!(
                    f32::from_bits(found[row * self.n + column]),
                    sum as f32,
                    "({row},{column})"
                );
            }
        }
    }
}

const SMALL: Gemm = Gemm {
    m: 128,
    n: 256,
    k: 320,
};

#[test]
fn roles_hand_stages_to_each_other() {
    for seed in 0..3 {
        let ran = SMALL.run().seeded(seed);
        assert_eq!(ran.findings, [], "{:#?}", ran.findings);
        SMALL.check(&ran.tensors[2]);
    }
}

#[test]
fn mistakes_of_roles_are_found() {
    let small = Gemm { n: 128, ..SMALL };
    let body = small.body();
    let with = |from: &str, to: &str| {
        assert!(body.contains(from), "{from}");
        let mut run = small.run();
        run.body = body.replace(from, to);
        let found: Vec<Finding> = (0..2).flat_map(|seed| run.seeded(seed).findings).collect();
        let mut kinds: Vec<Kind> = found.iter().map(|finding| finding.kind).collect();
        kinds.sort();
        kinds.dedup();
        kinds
    };
    // The loads do not wait for empty stages.
    let waits =
        "EMPTY: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%s10+64], %r13; @!%p2 bra EMPTY;";
    assert!(with(waits, "").contains(&Kind::MissingWait));
    // A stage is released while products of it may be under way.
    assert!(
        with("wait_group.sync.aligned 1", "wait_group.sync.aligned 2").contains(&Kind::MissingWait)
    );
    // Products do not wait for full stages.
    let waits = "FULL: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%s10], %r13; @!%p2 bra FULL;";
    assert!(with(waits, "").contains(&Kind::MissingWait));
    // The last products are not waited for.
    assert!(with("wgmma.wait_group.sync.aligned 0;", "").contains(&Kind::MissingWait));
    // Half of the bytes are expected; too few arrivals release a stage.
    let expects = format!("[%s10], {STAGE};");
    assert!(with(&expects, "[%s10], 16384;").contains(&Kind::MissingWait));
    let counts = "[%s0+64], 2; mbarrier.init.shared::cta.b64 [%s0+72], 2; mbarrier.init.shared::cta.b64 [%s0+80], 2;";
    let many = with(counts, &counts.replace(", 2;", ", 3;"));
    assert!(many.contains(&Kind::Deadlock), "{many:?}");
    let few = with(counts, &counts.replace(", 2;", ", 1;"));
    assert!(
        few.contains(&Kind::Undefined) || few.contains(&Kind::MissingWait),
        "{few:?}"
    );
    // The pool of registers is too small.
    assert!(with("aligned.u32 40;", "aligned.u32 160;").contains(&Kind::Deadlock));
    // A box is smaller than what is expected.
    let mut run = small.run();
    run.maps[1].box_sizes = vec![32, 128];
    run.finds(Kind::Deadlock, "8192 bytes");
    // Tiles lie otherwise than the products read them.
    run.maps[1].swizzle = MapSwizzle::B64;
    run.body = body.replace(&expects, "[%s10], 24576;");
    run.finds(
        Kind::Undefined,
        "with the swizzle of 128 bytes, found one that was loaded with the swizzle of 64 bytes",
    );
}

/// Its time on the emulator is measured by `cargo test --release -p cute-runtime-tests --test emulator -- --ignored a_gemm_of_512 --nocapture`.
#[test]
#[ignore = "a measurement"]
fn a_gemm_of_512() {
    let gemm = Gemm {
        m: 512,
        n: 512,
        k: 256,
    };
    let run = gemm.run();
    let start = std::time::Instant::now();
    let ran = run.seeded(0);
    println!("{:?}", start.elapsed());
    assert_eq!(ran.findings, [], "{:#?}", ran.findings);
    gemm.check(&ran.tensors[2]);
}
