/// The header `Link`: RFC 8288.
enum LinkHeader {

    /// Returns the target of the first link with the relation `next`.
    ///
    /// - Parameter header: The value of the header; several are joined with commas.
    static func next(in header: String) -> String? {
        var rest = header[...]
        while let start = rest.firstIndex(of: "<") {
            guard let end = rest[start...].firstIndex(of: ">") else { return nil }
            let target = rest[rest.index(after: start)..<end]
            let (parameters, tail) = parameters(in: rest[rest.index(after: end)...])
            // Of several relations of one link, the first counts; it may name several.
            let relation = parameters.first { $0.name == "rel" }?.value ?? ""
            if relation.lowercased().split(whereSeparator: \.isWhitespace).contains("next") {
                return target.trimmingSpaces()
            }
            rest = tail
        }
        return nil
    }

    /// Reads the parameters of a link, up to the comma before the next one.
    private static func parameters(
        in text: Substring
    ) -> (parameters: [(name: String, value: String)], rest: Substring) {
        var parts: [String] = [""]
        var (isQuoted, isEscaped) = (false, false)
        var index = text.startIndex
        while index < text.endIndex {
            let character = text[index]
            index = text.index(after: index)
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
                continue
            } else if character == "\"" {
                isQuoted.toggle()
                continue
            } else if !isQuoted, character == "," {
                break
            } else if !isQuoted, character == ";" {
                parts.append("")
                continue
            }
            parts[parts.count - 1].append(character)
        }
        let parameters = parts.compactMap { part -> (name: String, value: String)? in
            guard let equals = part.firstIndex(of: "=") else { return nil }
            let name = part[..<equals].trimmingSpaces().lowercased()
            return (name, part[part.index(after: equals)...].trimmingSpaces())
        }
        return (parameters, text[index...])
    }
}

extension Substring {
    fileprivate func trimmingSpaces() -> String {
        var text = self
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
