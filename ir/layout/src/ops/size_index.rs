use super::OpResult;
use super::operands::Operands;

pub(super) fn apply(_args: &Operands<'_>) -> Option<OpResult> {
    None
}
