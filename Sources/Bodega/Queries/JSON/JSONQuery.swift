import RecordCoder

/// The path to one value in JSON: member names and element indexes, outermost first. A "singular query" of RFC 9535.
package struct JSONQuery: Equatable, Sendable {
    /// A step of the path.
    package enum Selector: Equatable, Sendable {
        /// The member of an object.
        case name(String)
        /// The element of an array, counted from 0, or from the end by negative numbers.
        case index(Int)
    }

    /// The steps.
    package var selectors: [Selector]

    /// Creates a path from its steps.
    package init(selectors: [Selector]) { self.selectors = selectors }

    /// Finds the value.
    ///
    /// - Parameters:
    ///   - bytes: A text.
    ///   - range: A value in it that ``JSONScanner`` has accepted.
    /// - Returns: The range of the value, `nil` if there is none.
    package func find(in bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Range<Int>? {
        var range = range
        for selector in selectors {
            guard let next = Self.step(selector, in: bytes, range) else { return nil }
            range = next
        }
        return range
    }

    /// Whether each name of the path is at most once in its object. Otherwise readers differ in which value counts:
    /// this package takes the first one, others the last.
    func isUnambiguous(in bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
        var range = range
        for selector in selectors {
            if case .name(let wanted) = selector, bytes[range.lowerBound] == UInt8(ascii: "{") {
                var count = 0
                JSONScanner.forEachMember(of: bytes, range) { name, _ in
                    if JSONScanner.isName(UnsafeRawBufferPointer(rebasing: bytes[name]), wanted) { count += 1 }
                }
                if count > 1 { return false }
            }
            guard let next = Self.step(selector, in: bytes, range) else { return true }
            range = next
        }
        return true
    }

    private static func step(_ selector: Selector, in bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Range<Int>?
    {
        switch (selector, bytes[range.lowerBound]) {
        case (.name(let wanted), UInt8(ascii: "{")):
            var found: Range<Int>?
            JSONScanner.forEachMember(of: bytes, range) { name, value in
                // As in the decoder, the first of several members with one name counts.
                if found == nil, JSONScanner.isName(UnsafeRawBufferPointer(rebasing: bytes[name]), wanted) {
                    found = value
                }
            }
            return found
        case (.index(let wanted), UInt8(ascii: "[")):
            var elements: [Range<Int>] = []
            JSONScanner.forEachElement(of: bytes, range) { elements.append($0) }
            let index = wanted < 0 ? elements.count + wanted : wanted
            return elements.indices.contains(index) ? elements[index] : nil
        default:
            return nil
        }
    }
}
