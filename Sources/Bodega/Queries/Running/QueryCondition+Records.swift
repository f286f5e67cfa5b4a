import Foundation
import RecordCoder

extension QueryCondition {

    /// Whether a record meets the condition, as far as that can be known without decoding it.
    enum Verdict { case yes, no, unknown }

    /// Returns whether an item certainly does not meet the condition. An item that is not JSON may meet it.
    func excludes(_ entry: StorageItem) -> Bool {
        if case .opaque = self { return false }
        return entry.data.withUnsafeBytes { bytes in
            guard isValidUTF8(bytes), let range = JSONScanner.document(bytes) else { return false }
            return verdict(bytes, range) == .no
        }
    }

    /// Returns whether a record meets the condition.
    ///
    /// - Parameters:
    ///   - bytes: A text.
    ///   - range: A value in it that ``/RecordCoder/JSONScanner`` has accepted.
    func verdict(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Verdict {
        switch self {
        case .and(let left, let right):
            let first = left.verdict(bytes, range)
            if first == .no { return .no }
            let second = right.verdict(bytes, range)
            return second == .no ? .no : first == .yes && second == .yes ? .yes : .unknown
        case .or(let left, let right):
            let first = left.verdict(bytes, range)
            if first == .yes { return .yes }
            let second = right.verdict(bytes, range)
            return second == .yes ? .yes : first == .no && second == .no ? .no : .unknown
        case .not(let condition):
            switch condition.verdict(bytes, range) {
            case .yes: return .no
            case .no: return .yes
            case .unknown: return .unknown
            }
        case .member(let path, let possible, let certain, let needsTextIndex):
            let key = StorageSortKey(bytes, path.query.find(in: bytes, range))
            if needsTextIndex, case .text(let text) = key, !SwiftText.isSafe(text) || text.utf8.count == 36 {
                return .unknown
            }
            return !possible.contains(key) ? .no : certain.contains(key) ? .yes : .unknown
        case .constant(let isMet):
            return isMet ? .yes : .no
        case .opaque:
            return .unknown
        }
    }
}
