/// The header `Link`: RFC 8288.
enum LinkHeader {

    /// The header can't be divided into links.
    struct Malformed: Error {}

    /// Returns the targets of the links with the relation `next`, each once, in their order.
    ///
    /// Links that belong to another resource, by the parameter `anchor`, are left out.
    ///
    /// - Parameter header: The value of the header; several are joined with commas.
    /// - Throws: ``Malformed``: a link that can't be read may be that to the next page.
    static func next(in header: String) throws -> [String] {
        var targets: [String] = []
        var rest = Array(header.utf8)[...]
        while true {
            rest = rest.drop { isSpace($0) || $0 == UInt8(ascii: ",") }
            guard let first = rest.first else { return targets }
            guard first == UInt8(ascii: "<"), let end = rest.firstIndex(of: UInt8(ascii: ">"))
            else { throw Malformed() }
            let target = text(of: rest[(rest.startIndex + 1)..<end])
            let parameters = try takeParameters(from: &rest, after: end)
            // Of several relations of one link, the first counts; it may name several.
            let relations = parameters.first { $0.name == "rel" }?.value.lowercased() ?? ""
            let isNext = relations.split(whereSeparator: \.isWhitespace).contains("next")
            let isForeign = parameters.contains { $0.name == "anchor" && !$0.value.isEmpty }
            if isNext, !isForeign, !targets.contains(target) { targets.append(target) }
        }
    }

    /// Reads the parameters of a link, and removes the link up to the comma before the next one.
    private static func takeParameters(
        from rest: inout ArraySlice<UInt8>, after end: Int
    ) throws -> [(name: String, value: String)] {
        var parts: [[UInt8]] = [[]]
        var (isQuoted, isEscaped) = (false, false)
        var index = end + 1
        while index < rest.endIndex, isQuoted || rest[index] != UInt8(ascii: ",") {
            let byte = rest[index]
            index += 1
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
                continue
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
                continue
            } else if !isQuoted, byte == UInt8(ascii: ";") {
                parts.append([])
                continue
            }
            parts[parts.count - 1].append(byte)
        }
        // What follows the target is a parameter, and each quotation ends.
        guard !isQuoted, parts[0].allSatisfy(isSpace) else { throw Malformed() }
        rest = rest[index...]
        return parts.dropFirst().map { part in
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            return (text(of: part[..<equals]).lowercased(), text(of: part[equals...].dropFirst()))
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func text(of bytes: ArraySlice<UInt8>) -> String {
        var bytes = bytes.drop(while: isSpace)
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
