//===- cute.h - the C interface between MLIR's C++ and Rust -----*- C -*-===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Only what MLIR's own C interface lacks. Nothing here decides anything: text,
// verification, inference, passes and pipelines are Rust callbacks.
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_SHIM_H
#define CUTE_SHIM_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The dialects' types and attributes by number, and the most parameters of each sort that one of them has: made from the `.td` files, as Rust's are.
#include "CuteKinds.h.inc"

/// A type or an attribute, taken apart: its parameters by sort, each in the order of the `.td` file. Owned by whoever fills it.
typedef struct {
  int kind;
  intptr_t numTypes, numTexts, numInts, numArrays;
  MlirType types[CUTE_MAX_TYPES];
  MlirStringRef texts[CUTE_MAX_TEXTS];
  int64_t ints[CUTE_MAX_INTS];
  MlirAttribute arrays[CUTE_MAX_ARRAYS];
} CuteParts;

/// Instead of the number of a type: an integer that is computed of parameters.
#define CUTE_EXPRESSION (-1)

/// The end of a pass: it has failed, it has changed something, or nothing.
#define CUTE_PASS_FAILED 0
#define CUTE_PASS_CHANGED 1
#define CUTE_PASS_UNCHANGED 2

typedef struct {
  MlirStringRef name, description, init;
} CuteOption;

typedef struct {
  /// Gives `sink` the canonical text, or false and the message.
  bool (*canonicalize)(int kind, MlirStringRef text, MlirStringCallback sink, void *user);
  /// True, or false and the message to `sink`.
  bool (*verifyParts)(const CuteParts *parts, MlirStringCallback sink, void *user);
  /// Emits its own diagnostics.
  bool (*verifyOp)(MlirOperation op);
  /// Gives `sink` the result types, or emits a diagnostic at `location`.
  bool (*inferTypes)(MlirStringRef op, MlirContext context, MlirLocation location,
                     intptr_t numOperands, const MlirValue *operands, MlirAttribute attributes,
                     void (*sink)(MlirType, void *), void *user);
  /// Gives `sink` the types of the operands, as they follow from that of the result where they are
  /// not written, or emits a diagnostic at `location`.
  bool (*operandTypes)(MlirStringRef op, MlirLocation location, intptr_t numOperands,
                       MlirType result, void (*sink)(MlirType, void *), void *user);
  /// Tells whether a type that is declared says the same as the one that is inferred.
  bool (*compatible)(MlirType inferred, MlirType declared);
  /// Tells whether the op may run where it would not have run, as seen from its operands' types.
  bool (*speculatable)(MlirOperation op);
  /// Verifies an attribute that one of the dialects names, of the op itself (`where` 0), of an argument of its region (1)
  /// or of its result as a function (2); emits its own diagnostics.
  bool (*verifyAttribute)(MlirOperation op, int where, intptr_t index, MlirStringRef name,
                          MlirAttribute value);
  /// Runs pass `index` on `op`; emits its own diagnostics. Gives one of the numbers `CUTE_PASS_...`.
  int (*runPass)(intptr_t index, MlirOperation op, intptr_t numOptions,
                  const MlirStringRef *options);
  /// The table of what Rust knows of a dialect's types in a context: made with the dialect, and freed with it.
  void *(*newTable)(void);
  void (*dropTable)(void *table);
  /// Gives `sink` the textual pass pipeline of pipeline `index`, or false and the message.
  bool (*buildPipeline)(intptr_t index, MlirStringRef options, MlirStringCallback sink, void *user);
  /// Gives `sink` an error of MLIR's at a line and a column of a file as it is to be told, or nothing where it is told as it is.
  bool (*reworded)(MlirStringRef message, MlirStringRef file, size_t line, size_t column,
                   MlirStringCallback sink, void *user);
  /// Gives `sink` the text of the module around a line of a file; false where that file is not known to be read.
  bool (*textAround)(MlirStringRef file, size_t line, MlirStringCallback sink, void *user);
  /// Gives `sink` the name of the value, with `%`, that is defined last before a place and may be used there, or nothing, by the text that is read of the file, or
  /// else by `text`, if there is one; false where there is no text.
  bool (*valueBefore)(MlirStringRef file, size_t line, size_t column, MlirStringRef text, MlirStringCallback sink,
                      void *user);
  /// Keeps the text that the program is given, which a marker parts into modules, unless the marker is empty. Gives `sink` the text that is to be read in its place, if
  /// there is another one.
  void (*setInput)(MlirStringRef name, MlirStringRef text, MlirStringRef marker, MlirStringCallback sink,
                   void *user);
  /// Verifies the names of other ops that an op is about; emits its own diagnostics.
  bool (*verifySymbols)(MlirOperation op);
  /// Verifies that something around an op declares the parameters that its types name; emits its own diagnostics.
  bool (*verifyParameters)(MlirOperation op);
} CuteCallbacks;

/// Must be called first, once.
void cuteSetCallbacks(const CuteCallbacks *callbacks);

/// Fills `registry` with both dialects, those that they lower to, and the translations to LLVM IR.
void cuteRegisterDialects(MlirDialectRegistry registry);
/// Registers the upstream passes that the pipelines use.
void cuteRegisterUpstreamPasses(void);
/// Has errors of ops name their place alone, without the op printed behind it.
void cuteContextPlain(MlirContext context);

/// False where the type is not ours.
bool cuteTypeGetParts(MlirType type, CuteParts *parts);
/// False where the attribute is not one that Rust verifies.
bool cuteAttributeGetParts(MlirAttribute attribute, CuteParts *parts);
/// Null, and a diagnostic at `location`, where the parts are not valid.
MlirType cuteTypeGet(MlirLocation location, const CuteParts *parts);
MlirAttribute cuteAttributeGet(MlirLocation location, const CuteParts *parts);

/// The table of a type's dialect; null where the type is not ours.
void *cuteTypeTable(MlirType type);

/// Lets an op, and what is within it, use no values and no blocks any more.
void cuteOpDropReferences(MlirOperation op);

/// A number for an op and all that is within it, by which a change is found.
uint64_t cuteOpFingerprint(MlirOperation op);

/// Gives `sink` the question whether the op of a loaded dialect was meant that is spelt most like this name, if one is near.
void cuteMeantOp(MlirContext context, MlirStringRef name, MlirStringCallback sink, void *user);

/// The chip and the features of an `#nvvm.target`, which live as long as the context; false where it is none.
bool cuteTargetGet(MlirAttribute target, MlirStringRef *chip, MlirStringRef *features);

/// Reads the text of a module, of a file of this name; null where it is none, which diagnostics have said.
MlirModule cuteModuleParse(MlirContext context, MlirStringRef text, MlirStringRef name);

/// Reads the text of a module, and gives `sink` each place of it that has wrong types: from the colon to the token behind
/// them, in bytes, and the text that is to stand there instead. False where it is no module even with the right ones, which
/// diagnostics have said.
bool cuteMendTypes(MlirContext context, MlirStringRef text, MlirStringRef name,
                   void (*sink)(intptr_t begin, intptr_t end, MlirStringRef types, void *),
                   void *user);

/// Registers a pass that may be scheduled on the ops of these names, separated by commas; on any where there is none.
void cuteRegisterPass(intptr_t index, MlirStringRef name, MlirStringRef description,
                      MlirStringRef anchors, intptr_t numOptions, const CuteOption *options);
void cuteRegisterPipeline(intptr_t index, MlirStringRef name, MlirStringRef description,
                          intptr_t numOptions, const CuteOption *options);

/// Runs a pipeline within the pass that this thread runs, on the operation of that pass, and holds back what is said meanwhile: `said` is to be given
/// to `cuteRelease`. False where the text is no pipeline, or a pass fails.
bool cuteRunWithin(MlirOperation op, MlirStringRef pipeline, void **said);
/// Emits what was held back, or drops it.
void cuteRelease(MlirContext context, void *said, bool emits);
/// Gives a module the contents and the attributes of another one, which has none then.
void cuteTakeContents(MlirOperation module, MlirOperation other);

/// An error with notes.
void cuteEmitError(MlirLocation location, MlirStringRef message, intptr_t numNotes,
                   const MlirLocation *noteLocations, const MlirStringRef *notes);
void cuteEmitRemark(MlirLocation location, MlirStringRef message);
/// A warning with notes.
void cuteEmitWarning(MlirLocation location, MlirStringRef message, intptr_t numNotes,
                     const MlirLocation *noteLocations, const MlirStringRef *notes);

/// Gives `sink` each type that an op's results, its attributes and its regions' arguments have, and each type within those.
void cuteWalkTypes(MlirOperation op, void (*sink)(MlirType, void *), void *user);

/// Puts what `type` and `text` give in place of the types and the attributes of an op that name parameters, wherever in its results, its
/// attributes and its regions' arguments they are; of an attribute they are given its kind and its text. Null leaves what is there.
void cuteReplaceParameters(MlirOperation op, MlirType (*type)(MlirType, void *),
                           MlirAttribute (*text)(int kind, MlirStringRef text, void *), void *user);

/// Gives `sink` each effect of an op and of what is within it: 0 allocates, 1 frees, 2 reads, 3 writes; on the value, which is
/// null where the effect is on none. False where an op within does not say what it does.
bool cuteOpEffects(MlirOperation op, void (*sink)(int kind, MlirValue value, void *), void *user);
/// Gives `sink` each way that control takes through the regions of an op: from region `from` (or from before the op, -1) to
/// region `to` (or behind the op, -1), with the values that go along and those that they become. False where the op has
/// regions and does not say.
bool cuteOpFlow(MlirOperation op,
                void (*sink)(intptr_t from, intptr_t to, intptr_t numValues,
                             const MlirValue *values, const MlirValue *inputs, void *),
                void *user);

int cuteOptMain(int argc, char **argv);
int cuteLspServerMain(int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
