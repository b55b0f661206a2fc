//! Remarks of ptxas on `wgmma` and `setmaxnreg`: each remark stands for products that run one after another, or for registers that no
//! role gets, and has a cure.

use cute_runtime::ptx::{self, Item, Place, Places};

/// A remark's number, and what is to be done about it.
type Remark = (&'static str, &'static str);

const REMARKS: &[Remark] = &[
    (
        "C7506",
        "setmaxnreg is ignored for a call; leave calls, printf and assertions out of the kernel",
    ),
    (
        "C7507",
        "setmaxnreg is ignored, as a role does not fit its registers; give it more, or give it less to hold",
    ),
    (
        "C7508",
        "setmaxnreg is ignored, as the registers at entry are not known; write known_block_size on the kernel, and beside it nvvm.maxnreg, the registers of all \
         roles by the number of warpgroups",
    ),
    (
        "C7509",
        "products run one after another for a call; leave calls, printf and assertions out of the kernel",
    ),
    (
        "C7510",
        "products run one after another, as they cross a function's boundary; leave functions, printf and assertions out of the kernel",
    ),
    (
        "C7511",
        "products run one after another for want of registers; choose smaller tiles of C for a warpgroup",
    ),
    (
        "C7512",
        "products run one after another for want of registers; choose smaller tiles of C for a warpgroup",
    ),
    (
        "C7513",
        "products run one after another, as something else writes registers of A; fence behind the write, and wait before it",
    ),
    (
        "C7514",
        "products run one after another, as something else reads accumulators; put a wgmma_wait_group before it on every way",
    ),
    (
        "C7515",
        "products run one after another, as something else writes accumulators; put a wgmma_fence behind it, before the products",
    ),
    (
        "C7516",
        "products run one after another; write a fence before them, and a commit and a wait behind, where all warps of the warpgroup come: by a condition of \
         make_warp_uniform that is the same for all four",
    ),
    (
        "C7517",
        "a wait was put in; write a cute_nvgpu.wgmma_wait_group that is given the accumulators behind the products",
    ),
    (
        "C7518",
        "products are waited for where warps may part; make conditions around them the same for the warpgroup, by make_warp_uniform",
    ),
    (
        "C7519",
        "a fence was put in; write a cute_nvgpu.wgmma_fence that is given the accumulators before the products, where all warps of the warpgroup come to both",
    ),
    (
        "C7520",
        "products are fenced where warps may part; make conditions around them the same for the warpgroup, by make_warp_uniform",
    ),
];

/// Places that a message shows, at most.
const SHOWN: usize = 8;

/// The remarks in ptxas' report, each with its cure, once; nothing where there are none.
pub(crate) fn of(log: &str) -> Option<String> {
    let mut found: Vec<String> = Vec::new();
    for line in log.lines() {
        let Some((_, rest)) = line.split_once("(C75") else {
            continue;
        };
        let number = rest.split(')').next().unwrap_or_default();
        let number = format!("C75{number}");
        let cure = REMARKS.iter().find(|(known, _)| *known == number);
        let text = match cure {
            Some((_, cure)) => format!("{} [{cure}]", line.trim()),
            None => line.trim().to_owned(),
        };
        if !found.contains(&text) {
            found.push(text);
        }
    }
    (!found.is_empty()).then(|| found.join("; "))
}

/// The kernels of a report of [`of`] whose products run one after another for want of registers, where it remarks on nothing else: a plan with
/// smaller tiles may have enough.
pub(crate) fn short_of_registers(remarks: &str) -> Vec<&str> {
    let mut kernels = Vec::new();
    // What is in front of the first number is no remark.
    for remark in remarks.split("(C75").skip(1) {
        match kernel_of(remark) {
            Some(kernel) if remark.starts_with("11)") || remark.starts_with("12)") => {
                if !kernels.contains(&kernel) {
                    kernels.push(kernel);
                }
            }
            _ => return Vec::new(),
        }
    }
    kernels
}

/// The place in the program that the line of PTX is from which a log names first, `around line 479`: that of the last instruction up to there.
pub(crate) fn place(log: &str, text: &str) -> Option<Place> {
    let (_, rest) = log.split_once("around line ")?;
    let line: u32 = rest.split(' ').next()?.parse().ok()?;
    let module = ptx::parse(text).ok()?;
    let places = Places::of(&module);
    let all = module.items.iter().flat_map(|item| match item {
        Item::Function(function) => function.instructions(),
        _ => Vec::new(),
    });
    let before = all.filter(|one| one.line.0 <= line);
    let last = before
        .filter(|one| one.source.is_some())
        .max_by_key(|one| one.line.0)?;
    places.place(last.source.as_ref()?)
}

/// The places that a log without a line may be about, and what is there: the calls of a kernel that it names, where it remarks on calls, and its products
/// otherwise. No more than [`SHOWN`].
pub(crate) fn causes(log: &str, text: &str) -> Vec<(Place, &'static str)> {
    let Ok(module) = ptx::parse(text) else {
        return Vec::new();
    };
    let places = Places::of(&module);
    let mut found: Vec<(Place, &'static str)> = Vec::new();
    for remark in log.split("(C75").skip(1) {
        let kernel = kernel_of(remark);
        let of_call = ["06)", "09)", "10)"]
            .iter()
            .any(|own| remark.starts_with(own));
        let (opcode, what) = match of_call {
            true => ("call", "a call is here"),
            false => ("wgmma", "a product is here"),
        };
        let all = module.items.iter().flat_map(|item| match item {
            Item::Function(function) if Some(function.name) == kernel => function.instructions(),
            _ => Vec::new(),
        });
        let is_cause = |name: &str, modifiers: &[&str]| {
            name == opcode && (of_call || modifiers.contains(&"mma_async"))
        };
        for one in all.filter(|one| is_cause(one.opcode, &one.modifiers)) {
            let place = one.source.as_ref().and_then(|source| places.place(source));
            let Some(place) = place.map(|place| (place, what)) else {
                continue;
            };
            if found.len() < SHOWN && !found.contains(&place) {
                found.push(place);
            }
        }
    }
    found
}

/// The kernel that a log names first.
pub(crate) fn kernel_of(log: &str) -> Option<&str> {
    let (_, rest) = log.split_once("function '")?;
    Some(rest.split_once('\'')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_without_a_line_have_their_causes() {
        let text = ".version 8.0\n.target sm_90a\n.file 1 \"k.mlir\"\n.extern .func f();\n.entry k()\n{\n  .loc 1 5 3\n  call f;\n  .loc 1 7 9\n  \
                    wgmma.commit_group.sync.aligned;\n  ret;\n}\n.entry other()\n{\n  .loc 1 9 1\n  call f;\n  ret;\n}\n";
        let log =
            |number: &str| format!("(C75{number}) Potential Performance Loss in the function 'k'");
        let found = |number: &str| {
            let found = causes(&log(number), text).into_iter();
            found
                .map(|(place, what)| format!("{place}: {what}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(found("10"), ["k.mlir:5:3: a call is here"]);
        // A commit is no product.
        assert!(found("14").is_empty());
        assert_eq!(kernel_of(&log("10")), Some("k"));
    }

    #[test]
    fn lines_of_ptx_are_led_back_to_the_program() {
        let text = ".version 8.0\n.target sm_90a\n.file 1 \"k.mlir\"\n.entry k()\n{\n  .loc 1 5 3\n  bar.sync 0;\n  {\n  .loc 1 7 9\n  \
                    bar.sync 0;\n  }\n  .loc 1 8 1\n  ret;\n}\n";
        let at = |line: u32| {
            let log = format!("warpgroup.arrive is injected in around line {line} by compiler");
            place(&log, text).map(|place| place.to_string())
        };
        assert_eq!(at(7).as_deref(), Some("k.mlir:5:3"));
        assert_eq!(at(11).as_deref(), Some("k.mlir:7:9"));
        assert_eq!(at(99).as_deref(), Some("k.mlir:8:1"));
        assert_eq!(at(2), None);
        assert_eq!(place("no line", text), None);
    }

    #[test]
    fn remarks_have_their_cures() {
        let log = "ptxas info    : (C7514) Potential Performance Loss: wgmma.mma_async instructions are serialized due to non wgmma \
                   instructions defining accumulator registers of a wgmma between start and end of the pipeline stage in the \
                   function 'k'\nptxas info    : Used 168 registers\nptxas info : (C7599) something new";
        let found = of(log).unwrap();
        assert!(
            found.contains("C7514") && found.contains("wgmma_wait_group"),
            "{found}"
        );
        assert!(found.contains("C7599"), "{found}");
        let found =
            of("ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored").unwrap();
        assert!(found.contains("nvvm.maxnreg"), "{found}");
        assert_eq!(of("ptxas info    : Used 168 registers"), None);
    }

    #[test]
    fn kernels_that_are_short_of_registers_are_named() {
        let line = |number: &str, kernel: &str| {
            format!(
                "ptxas info    : ({number}) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient \
                 register resources for the function '{kernel}'\n"
            )
        };
        let both = line("C7512", "a") + &line("C7511", "b") + &line("C7512", "a");
        assert_eq!(short_of_registers(&of(&both).unwrap()), ["a", "b"]);
        let other = both + &line("C7514", "a");
        assert!(short_of_registers(&of(&other).unwrap()).is_empty());
    }

    #[test]
    fn every_remark_is_told_once() {
        let line = "ptxas info    : (C7510) x in function 'a'\n";
        let found = of(&line.repeat(3)).unwrap();
        assert_eq!(found.matches("C7510").count(), 1);
        for (at, (number, _)) in REMARKS.iter().enumerate() {
            assert!(REMARKS[..at].iter().all(|(other, _)| other != number));
        }
    }
}
