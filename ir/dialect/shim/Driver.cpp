//===- Driver.cpp - passes by name, and the tools' main functions ---------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Syntax.h"
#include "mlir-c/Dialect/Arith.h"
#include "mlir-c/Dialect/ControlFlow.h"
#include "mlir-c/Dialect/Func.h"
#include "mlir-c/Dialect/GPU.h"
#include "mlir-c/Dialect/LLVM.h"
#include "mlir-c/Dialect/Math.h"
#include "mlir-c/Dialect/NVVM.h"
#include "mlir-c/Dialect/SCF.h"
#include "mlir-c/Dialect/UB.h"
#include "mlir-c/Dialect/Vector.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

static void insertDialects(DialectRegistry &registry) {
  registry.insert<cute::CuteDialect, cute_nvgpu::CuteNvgpuDialect>();
  // By their handles: the headers with their ops would take longer to compile than all else here.
  for (MlirDialectHandle handle :
       {mlirGetDialectHandle__arith__(), mlirGetDialectHandle__cf__(),
        mlirGetDialectHandle__func__(), mlirGetDialectHandle__gpu__(),
        mlirGetDialectHandle__llvm__(), mlirGetDialectHandle__nvvm__(),
        mlirGetDialectHandle__math__(), mlirGetDialectHandle__scf__(),
        mlirGetDialectHandle__ub__(), mlirGetDialectHandle__vector__()})
    mlirDialectHandleInsertDialect(handle, wrap(&registry));
}

namespace {
/// Loads our dialect with another one, which a text may name long before it: errors about names in between are its to explain.
class LoadedWith : public DialectExtensionBase {
public:
  explicit LoadedWith(StringRef name) : DialectExtensionBase(ArrayRef<StringRef>(name)), name(name) {}
  void apply(MLIRContext *context, MutableArrayRef<Dialect *>) const override {
    context->loadDialect<cute::CuteDialect>();
  }
  std::unique_ptr<DialectExtensionBase> clone() const override {
    return std::make_unique<LoadedWith>(name);
  }

private:
  std::string name;
};
} // namespace

static void registerDialects(DialectRegistry &registry) {
  // Extensions are told apart by addresses.
  static SelfOwningTypeID withFunc, withGpu;
  registry.addExtension(withFunc, std::make_unique<LoadedWith>("func"));
  registry.addExtension(withGpu, std::make_unique<LoadedWith>("gpu"));
  insertDialects(registry);
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  registerConvertNVVMToLLVMInterface(registry);
  ub::registerConvertUBToLLVMInterface(registry);
  vector::registerConvertVectorToLLVMInterface(registry);
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

void cuteRegisterDialects(MlirDialectRegistry registry) { registerDialects(*unwrap(registry)); }

bool cuteTargetGet(MlirAttribute target, MlirStringRef *chip, MlirStringRef *features) {
  auto nvvm = llvm::dyn_cast<NVVM::NVVMTargetAttr>(unwrap(target));
  if (!nvvm)
    return false;
  *chip = wrap(nvvm.getChip());
  *features = wrap(nvvm.getFeatures());
  return true;
}

void cuteContextPlain(MlirContext context) { unwrap(context)->printOpOnDiagnostic(false); }

void cuteRegisterUpstreamPasses(void) {
  registerTransformsPasses();
  // One by one, for the header that registers them all includes every dialect there is.
  registerPass([] { return createConvertGpuOpsToNVVMOps(); });
  registerPass([] { return createConvertNVVMToLLVMPass(); });
  registerPass([] { return createConvertVectorToLLVMPass(); });
  registerPass([] { return createReconcileUnrealizedCastsPass(); });
  registerPass([] { return createSCFToControlFlowPass(); });
  registerPass([] { return createArithToLLVMConversionPass(); });
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

namespace {
struct OptionSpec {
  std::string name, description, init;
};

std::vector<OptionSpec> copyOptions(intptr_t count, const CuteOption *options) {
  std::vector<OptionSpec> specs;
  for (const CuteOption &option : ArrayRef(options, count))
    specs.push_back({unwrap(option.name).str(), unwrap(option.description).str(),
                     unwrap(option.init).str()});
  return specs;
}

struct PassSpec {
  intptr_t index;
  std::string name, description;
  // The ops that the pass may be scheduled on; any where there is none.
  std::vector<std::string> anchors;
  std::vector<OptionSpec> options;
  // An address of its own for each pass is what MLIR tells passes apart by.
  SelfOwningTypeID id;
};

class RustPass;
/// The pass that a thread runs, for pipelines within it.
thread_local RustPass *running = nullptr;

/// A pass whose work is done in Rust. Its options are declared to MLIR, so that pipelines,
/// reproducers and `--help` know them.
class RustPass : public Pass {
public:
  explicit RustPass(const PassSpec &spec)
      : Pass(spec.id, spec.anchors.size() == 1 ? std::optional<StringRef>(spec.anchors[0])
                                               : std::nullopt),
        spec(spec) {
    for (const OptionSpec &option : spec.options)
      options.push_back(std::make_unique<Option<std::string>>(
          *this, option.name, llvm::cl::desc(option.description), llvm::cl::init(option.init)));
  }
  StringRef getName() const override { return spec.name; }
  StringRef getArgument() const override { return spec.name; }
  StringRef getDescription() const override { return spec.description; }
  void getDependentDialects(DialectRegistry &registry) const override {
    insertDialects(registry);
  }
  bool canScheduleOn(RegisteredOperationName op) const override {
    return spec.anchors.empty() || llvm::is_contained(spec.anchors, op.getStringRef());
  }
  std::unique_ptr<Pass> clonePass() const override { return std::make_unique<RustPass>(spec); }
  LogicalResult initializeOptions(StringRef text,
                                  function_ref<LogicalResult(const Twine &)> error) override {
    return Pass::initializeOptions(text, [&](const Twine &message) {
      // MLIR names the option that there is not.
      std::string said = message.str();
      StringRef name = StringRef(said).split("no such option ").second.trim();
      SmallVector<StringRef> names;
      for (const OptionSpec &option : spec.options)
        names.push_back(option.name);
      if (name.empty())
        return error(spec.name + ": " + said);
      return error(spec.name + ": no such option '" + name + "'" +
                   (names.empty() ? std::string(" of it, which has none")
                                  : ": expected " + llvm::join(names, ", ") +
                                        cute::didYouMean(name, names)));
    });
  }
  void runOnOperation() override {
    SmallVector<std::string> values;
    SmallVector<MlirStringRef> refs;
    for (const auto &option : options) {
      // MLIR takes the last one without a word.
      if (option->getNumOccurrences() > 1) {
        getOperation()->emitError() << spec.name << ": the option " << option->getArgStr()
                                    << " is given twice; expected it once";
        return signalPassFailure();
      }
      values.push_back(option->getValue());
    }
    for (const std::string &value : values)
      refs.push_back(wrap(StringRef(value)));
    RustPass *around = std::exchange(running, this);
    int ended =
        cute::callbacks().runPass(spec.index, wrap(getOperation()), refs.size(), refs.data());
    if (ended == CUTE_PASS_FAILED)
      signalPassFailure();
    // What has not changed is not verified again, and what is known of it stays.
    if (ended == CUTE_PASS_UNCHANGED)
      markAllAnalysesPreserved();
    running = around;
  }
  LogicalResult runWithin(StringRef pipeline, Operation *op) {
    OpPassManager manager(op->getName());
    if (failed(parsePassPipeline(pipeline, manager)))
      return failure();
    return runPipeline(manager, op);
  }

private:
  const PassSpec &spec;
  std::vector<std::unique_ptr<Option<std::string>>> options;
};
} // namespace

bool cuteRunWithin(MlirOperation op, MlirStringRef pipeline, void **said) {
  auto *held = new std::vector<Diagnostic>;
  *said = held;
  ScopedDiagnosticHandler handler(unwrap(op)->getContext(), [held](Diagnostic &diagnostic) {
    held->push_back(std::move(diagnostic));
    return success();
  });
  return running && succeeded(running->runWithin(unwrap(pipeline), unwrap(op)));
}

void cuteRelease(MlirContext context, void *said, bool emits) {
  auto *held = static_cast<std::vector<Diagnostic> *>(said);
  if (emits)
    for (Diagnostic &diagnostic : *held)
      unwrap(context)->getDiagEngine().emit(std::move(diagnostic));
  delete held;
}

void cuteTakeContents(MlirOperation module, MlirOperation other) {
  Operation *to = unwrap(module), *from = unwrap(other);
  to->setAttrs(from->getAttrDictionary());
  for (auto [into, region] : llvm::zip(to->getRegions(), from->getRegions()))
    into.takeBody(region);
}

void cuteRegisterPass(intptr_t index, MlirStringRef name, MlirStringRef description,
                      MlirStringRef anchors, intptr_t numOptions, const CuteOption *options) {
  SmallVector<StringRef> ops;
  unwrap(anchors).split(ops, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  // Registered passes live as long as the process.
  auto *spec = new PassSpec{index,
                            unwrap(name).str(),
                            unwrap(description).str(),
                            std::vector<std::string>(ops.begin(), ops.end()),
                            copyOptions(numOptions, options),
                            {}};
  registerPass([spec]() -> std::unique_ptr<Pass> { return std::make_unique<RustPass>(*spec); });
}

namespace {
/// The options of a pipeline, for `--help` and to be printed back; Rust reads the text itself.
struct PipelineOptions : public PassPipelineOptions<PipelineOptions> {
  explicit PipelineOptions(const std::vector<OptionSpec> &specs) {
    for (const OptionSpec &spec : specs)
      options.push_back(std::make_unique<Option<std::string>>(
          *this, spec.name, llvm::cl::desc(spec.description), llvm::cl::init(spec.init)));
  }
  std::vector<std::unique_ptr<Option<std::string>>> options;
};
} // namespace

void cuteRegisterPipeline(intptr_t index, MlirStringRef name, MlirStringRef description,
                          intptr_t numOptions, const CuteOption *options) {
  auto *specs = new std::vector<OptionSpec>(copyOptions(numOptions, options));
  registerPassPipeline(
      unwrap(name), unwrap(description),
      [index](OpPassManager &pm, StringRef text,
              function_ref<LogicalResult(const Twine &)> error) -> LogicalResult {
        std::string answer;
        if (!cute::callbacks().buildPipeline(index, wrap(text), cute::append, &answer))
          return error(answer);
        return parsePassPipeline(answer, pm);
      },
      [specs](function_ref<void(const detail::PassOptions &)> show) {
        show(PipelineOptions(*specs));
      });
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

// MLIR's C interface reads text without the name of its file, or files.
MlirModule cuteModuleParse(MlirContext context, MlirStringRef text, MlirStringRef name) {
  // A copy has a null at its end, where parsers of ops see the end of the text.
  llvm::SourceMgr files;
  files.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(unwrap(text), unwrap(name)), {});
  auto module = parseSourceFile<ModuleOp>(files, ParserConfig(unwrap(context)));
  return wrap(module.release());
}

bool cuteMendTypes(MlirContext context, MlirStringRef text, MlirStringRef name,
                   void (*sink)(intptr_t, intptr_t, MlirStringRef, void *), void *user) {
  auto copy = llvm::MemoryBuffer::getMemBufferCopy(unwrap(text), unwrap(name));
  const char *start = copy->getBufferStart();
  auto mended = [&](llvm::SMLoc begin, llvm::SMLoc end, TypeRange results) {
    std::string types;
    llvm::raw_string_ostream stream(types);
    if (!results.empty()) {
      stream << "-> " << (results.size() > 1 ? "(" : "");
      llvm::interleaveComma(results, stream);
      stream << (results.size() > 1 ? ")" : "");
    }
    sink(begin.getPointer() - start, end.getPointer() - start,
         wrap(StringRef(types)), user);
  };
  llvm::SourceMgr files;
  files.AddNewSourceBuffer(std::move(copy), {});
  SourceMgrDiagnosticHandler handler(files, unwrap(context));
  bool parsed = false;
  cute::mendTypes(mended, [&] {
    parsed = static_cast<bool>(parseSourceFile<ModuleOp>(files, ParserConfig(unwrap(context))));
  });
  return parsed;
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

static void attachNotes(InFlightDiagnostic &&diagnostic, intptr_t numNotes,
                        const MlirLocation *locations, const MlirStringRef *notes) {
  for (intptr_t i = 0; i < numNotes; ++i)
    diagnostic.attachNote(unwrap(locations[i])) << unwrap(notes[i]);
}

void cuteEmitError(MlirLocation location, MlirStringRef message, intptr_t numNotes,
                   const MlirLocation *noteLocations, const MlirStringRef *notes) {
  attachNotes(emitError(unwrap(location)) << unwrap(message), numNotes, noteLocations, notes);
}

void cuteEmitWarning(MlirLocation location, MlirStringRef message, intptr_t numNotes,
                     const MlirLocation *noteLocations, const MlirStringRef *notes) {
  attachNotes(emitWarning(unwrap(location)) << unwrap(message), numNotes, noteLocations, notes);
}

void cuteEmitRemark(MlirLocation location, MlirStringRef message) {
  emitRemark(unwrap(location)) << unwrap(message);
}

//===----------------------------------------------------------------------===//
// Tools
//===----------------------------------------------------------------------===//

/// Says an error of the command itself, which has no place in a text: what it begins with, an option or a file, is its place.
static void sayError(StringRef message) { llvm::errs() << "error: " << message.rtrim() << "\n"; }

/// Has what names no place of a text said without one, where MLIR says `<unknown>:0`.
static void sayWithoutPlace(MLIRContext *context) {
  context->getDiagEngine().registerHandler([](Diagnostic &diagnostic) -> LogicalResult {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error ||
        !isa<UnknownLoc>(diagnostic.getLocation()) || !diagnostic.getNotes().empty())
      return failure();
    std::string message = diagnostic.str();
    StringRef said = message;
    // That of a pipeline says where it is in that option, and shows it.
    if (said.consume_front("MLIR Textual PassPipeline Parser:")) {
      auto [at, rest] = said.split(" error: ");
      message = ("--pass-pipeline:" + at + " " + rest).str();
    }
    sayError(message);
    return success();
  });
}

/// MLIR's own, with its input known to Rust.
static LogicalResult optMain(int argc, char **argv, StringRef input, StringRef output,
                             DialectRegistry &registry) {
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  bool isTerminal = input == "-" && llvm::sys::Process::FileDescriptorIsDisplayed(fileno(stdin));
  if (config.shouldShowDialects() || config.shouldListPasses() || isTerminal)
    return MlirOptMain(argc, argv, input, output, registry);
  llvm::InitLLVM handlers(argc, argv);
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> text = openInputFile(input, &error);
  std::unique_ptr<llvm::ToolOutputFile> file = text ? openOutputFile(output, &error) : nullptr;
  if (!file) {
    // MLIR names the file in front of the reason.
    StringRef why = StringRef(error).rsplit(": ").second;
    sayError(text ? "-o: cannot write " + output.str() + ": " + why.str()
                  : input.str() + ": cannot be read: " + why.str());
    return failure();
  }
  if (!config.shouldVerifyDiagnostics()) {
    MlirOptMainConfig plain = config;
    config.setPassPipelineSetupFn([plain](PassManager &manager) {
      sayWithoutPlace(manager.getContext());
      return plain.setupPassPipeline(manager);
    });
  }
  auto read = [](MlirStringRef other, void *user) {
    auto &buffer = *static_cast<std::unique_ptr<llvm::MemoryBuffer> *>(user);
    buffer = llvm::MemoryBuffer::getMemBufferCopy(unwrap(other), buffer->getBufferIdentifier());
  };
  cute::callbacks().setInput(wrap(text->getBufferIdentifier()), wrap(text->getBuffer()),
                             wrap(StringRef(config.inputSplitMarker())), read, &text);
  if (failed(MlirOptMain(file->os(), std::move(text), registry, config)))
    return failure();
  file->keep();
  return success();
}

int cuteOptMain(int argc, char **argv) {
  // Taken by the tool before anything of MLIR is set up; it stands here for `--help`.
  static llvm::cl::opt<std::string> cache(
      "cache", llvm::cl::ValueOptional, llvm::cl::value_desc("DIR"),
      llvm::cl::desc("Keep what --cute-compile makes, and use what was kept: in DIR, $CUTE_CACHE_DIR, "
                     "or cute-opt in $XDG_CACHE_HOME or ~/.cache"));
  static llvm::cl::opt<bool> fix(
      "fix-types", llvm::cl::desc("Leave wrong types out of the file itself, or of a copy by -o, and do nothing else"));
  static llvm::cl::opt<bool> strip(
      "strip-types", llvm::cl::desc("Print ops without the types that follow from their operands"),
      llvm::cl::callback([](const bool &on) { cute::setStripsTypes(on); }));
  DialectRegistry registry;
  registerDialects(registry);
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "compiler for CuTe's layouts, tensors and tiled operations\n", registry);
  return asMainReturnCode(optMain(argc, argv, input, output, registry));
}

int cuteLspServerMain(int argc, char **argv) {
  DialectRegistry registry;
  registerDialects(registry);
  return asMainReturnCode(MlirLspServerMain(argc, argv, registry));
}
