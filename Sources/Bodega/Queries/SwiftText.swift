import Foundation

/// The Unicode scalars of texts for which equality and order in Swift are those of their scalars.
///
/// Swift compares strings by canonical equivalence (Unicode Standard Annex #15): "é" equals "e" with a combining
/// accent. A text is in Normalization Form C, and equal to no other text in that form, if each of its scalars has the
/// properties `NFC_Quick_Check=Yes` and `Canonical_Combining_Class=0`. The marks, of class 9, 103 and 107, are
/// harmless, too, unless two of them are adjacent, because the form sorts them.
///
/// These are the ranges of the world's most used scripts with these properties; they need not be complete. They are
/// written as the patterns of SQL's GLOB are, which compare scalars.
package enum SwiftText {
    private static let safeRanges: [ClosedRange<UInt32>] = [
        0x9...0xA, 0xD...0xD, 0x20...0x2FF, 0x370...0x373, 0x375...0x37D, 0x37F...0x386, 0x388...0x482, 0x48A...0x58F,
        0x5D0...0x5F4,
        0x620...0x64A, 0x660...0x66F, 0x671...0x6D5, 0x904...0x939, 0x93D...0x94D, 0x960...0x97F, 0xE01...0xE3A,
        0xE3F...0xE4B, 0x10A0...0x10FF, 0x1E00...0x1EFF, 0x200B...0x2027, 0x202A...0x205E, 0x20A0...0x20C0,
        0x2190...0x2328, 0x232B...0x2ADB, 0x2ADD...0x2AFF, 0x3003...0x3029, 0x3041...0x3096, 0x309B...0x30FF,
        0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3, 0xFE00...0xFE0F, 0xFF01...0xFFEF, 0x1F000...0x1FAFF,
        0x20000...0x2A6DF,
    ]
    /// Scalars that begin a character of their own, unless the one before is a prefix or a joiner, see Unicode Standard
    /// Annex #29. They need not be all.
    private static let startingRanges: [ClosedRange<UInt32>] = [
        0x0...0x2FF, 0x370...0x482, 0x48A...0x58F, 0x10A0...0x10FF, 0x1E00...0x1EFF, 0x3041...0x3096, 0x30A1...0x30FF,
        0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3,
    ]
    private static let markRanges: [ClosedRange<UInt32>] = [0x94D...0x94D, 0xE38...0xE3A, 0xE48...0xE4B]

    /// Safe scalars of many texts: Latin, Greek and Cyrillic letters with punctuation and symbols, and those of China,
    /// Japan and Korea. None is a mark.
    static let commonRanges: [[ClosedRange<UInt32>]] = [
        [
            0x9...0xA, 0xD...0xD, 0x20...0x2FF, 0x388...0x482, 0x1E00...0x1EFF, 0x200B...0x2027, 0x20A0...0x20C0,
            0xFE00...0xFE0F, 0x1F000...0x1FAFF,
        ],
        [
            0x9...0xA, 0xD...0xD, 0x20...0xFF, 0x2010...0x2027, 0x3003...0x3029, 0x3041...0x3096, 0x30A1...0x30FF,
            0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3, 0xFF01...0xFFEF,
        ],
    ]

    /// The scalars, marks included, as the content of a character class.
    package static let safe = characterClass(safeRanges)
    /// The marks, as the content of a character class.
    package static let marks = characterClass(markRanges)

    /// The contents of small character classes; a text of the scalars of one of them needs no further test.
    package static let common = commonRanges.map(characterClass)

    private static func characterClass(_ ranges: [ClosedRange<UInt32>]) -> String {
        ranges.map { range in
            let ends = [range.lowerBound, range.upperBound].compactMap(Unicode.Scalar.init).map(String.init)
            return range.count == 1 ? ends[0] : ends.joined(separator: "-")
        }.joined()
    }

    /// The texts that start with a certain text, as Swift understands it: with its characters, not its scalars.
    ///
    /// - Parameter start: The text, in Normalization Form C.
    /// - Returns: The keys that all such texts have, and those with which texts of the scalars above are such texts.
    static func starting(with start: String) -> (possible: StorageSortKeyRanges, certain: StorageSortKeyRanges) {
        guard let last = start.unicodeScalars.last else { return (.texts, .texts) }
        let possible = StorageSortKeyRanges(.before(.text(start)), .after(.text(start + "\u{10FFFF}\u{10FFFF}")))
        // A line feed joins a carriage return, and what follows a joiner or a prefix may be part of the character.
        if last == "\r" || last == "\u{200D}" || (start + "a").count == start.count { return (possible, .empty) }
        let starting = startingRanges.compactMap { range -> StorageSortKeyRanges? in
            guard let first = Unicode.Scalar(range.lowerBound), let end = Unicode.Scalar(range.upperBound + 1) else {
                return nil
            }
            return StorageSortKeyRanges(.before(.text(start + String(first))), .before(.text(start + String(end))))
        }
        return (possible, .union([StorageSortKeyRanges(.text(start))] + starting))
    }

    /// The text in Normalization Form C, whose bytes have the order of Swift's strings.
    static func normalized(_ text: String) -> String {
        text.utf8.allSatisfy { $0 < 0x80 } ? text : text.precomposedStringWithCanonicalMapping
    }

    /// Whether a text consists of the scalars only.
    package static func isSafe(_ text: String) -> Bool {
        var isAfterMark = false
        for scalar in text.unicodeScalars {
            guard safeRanges.contains(where: { $0.contains(scalar.value) }) else { return false }
            let isMark = markRanges.contains { $0.contains(scalar.value) }
            if isMark && isAfterMark { return false }
            isAfterMark = isMark
        }
        return true
    }
}
