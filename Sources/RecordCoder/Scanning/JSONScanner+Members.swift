extension JSONScanner {

    /// Moves past a value and finds another value in it.
    ///
    /// - Parameter names: The path from the value to the one to find.
    /// - Returns: The range of the value, `nil` if there is none. Of members with equal names the last one counts.
    package mutating func skipValue(finding names: ArraySlice<String>) throws(JSONScanError) -> Range<Int>? {
        guard let name = names.first else { return try skipValue() }
        skipWhitespace()
        guard try peek() == UInt8(ascii: "{") else {
            try skipValue()
            return nil
        }
        position += 1
        skipWhitespace()
        if try peek() == UInt8(ascii: "}") {
            position += 1
            return nil
        }
        var found: Range<Int>?
        while true {
            if try skipName(comparingWith: name) {
                found = try skipValue(finding: names.dropFirst())
            } else {
                try skipValue()
            }
            skipWhitespace()
            if try peek() == UInt8(ascii: ",") {
                position += 1
            } else {
                try expect(UInt8(ascii: "}"))
                return found
            }
        }
    }

    /// Moves past the name of a member and the colon.
    ///
    /// - Returns: Whether the name is the given one.
    package mutating func skipName(comparingWith name: String) throws(JSONScanError) -> Bool {
        let content = UnsafeRawBufferPointer(rebasing: bytes[try skipString()])
        try expect(UInt8(ascii: ":"))
        return Self.isName(content, name)
    }

    /// Whether the content of a string is a certain name.
    package static func isName(_ content: UnsafeRawBufferPointer, _ name: String) -> Bool {
        if content.contains(UInt8(ascii: "\\")) {
            // Compared as scalars: two encodings of "é" are two names.
            return JSONString.decode(content).map { $0.unicodeScalars.elementsEqual(name.unicodeScalars) } ?? false
        }
        return content.count == name.utf8.count && content.elementsEqual(name.utf8)
    }

    /// Visits the elements of an array that the scanner has accepted.
    package static func forEachElement(
        of bytes: UnsafeRawBufferPointer,
        _ range: Range<Int>,
        _ body: (Range<Int>) -> Void
    ) {
        visit(bytes, range, closing: UInt8(ascii: "]")) { (scanner) throws(JSONScanError) in
            body(try scanner.skipValue())
        }
    }

    /// Visits the members of an object that the scanner has accepted; names are without their quotes.
    package static func forEachMember(
        of bytes: UnsafeRawBufferPointer,
        _ range: Range<Int>,
        _ body: (_ name: Range<Int>, _ value: Range<Int>) -> Void
    ) {
        visit(bytes, range, closing: UInt8(ascii: "}")) { (scanner) throws(JSONScanError) in
            let name = try scanner.skipString()
            try scanner.expect(UInt8(ascii: ":"))
            body(name, try scanner.skipValue())
        }
    }

    /// Visits the members of a text that is an object, while the text is scanned for the first time.
    ///
    /// - Returns: Whether the text is an object. If it is not JSON, members before the error were visited.
    package static func forEachMember(
        of bytes: UnsafeRawBufferPointer,
        _ body: (_ name: Range<Int>, _ value: Range<Int>) -> Void
    ) -> Bool {
        var scanner = JSONScanner(bytes)
        var isFirst = true
        do {
            try scanner.expect(UInt8(ascii: "{"))
            while !(try scanner.ends(UInt8(ascii: "}"), isFirst: isFirst)) {
                isFirst = false
                let name = try scanner.skipString()
                try scanner.expect(UInt8(ascii: ":"))
                body(name, try scanner.skipValue())
            }
            scanner.skipWhitespace()
            return scanner.position == bytes.count
        } catch {
            // A text that is not JSON is a result here, not a failure.
            return false
        }
    }

    /// Moves past the end of an array or object, or to its next element.
    ///
    /// - Returns: Whether it was the end.
    package mutating func ends(_ closing: UInt8, isFirst: Bool) throws(JSONScanError) -> Bool {
        skipWhitespace()
        if try peek() == closing {
            try expect(closing)
            return true
        }
        if !isFirst { try expect(UInt8(ascii: ",")) }
        return false
    }

    private static func visit(
        _ bytes: UnsafeRawBufferPointer,
        _ range: Range<Int>,
        closing: UInt8,
        _ body: (inout JSONScanner) throws(JSONScanError) -> Void
    ) {
        var scanner = JSONScanner(bytes, at: range.lowerBound + 1)
        do {
            scanner.skipWhitespace()
            while try scanner.peek() != closing {
                try body(&scanner)
                scanner.skipWhitespace()
                if try scanner.peek() == closing { return }
                try scanner.expect(UInt8(ascii: ","))
            }
        } catch {
            // The scanner has accepted the same text before.
            assertionFailure("\(error)")
        }
    }
}
