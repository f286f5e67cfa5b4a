import Bodega
import Foundation
import RecordCoder

/// Finds the objects of a response and their identifiers, without decoding them.
///
/// The bytes of an object are those that the server has sent. An identifier is a string or an integer. An object
/// without one, or with two, is an error: if it were skipped, it would look like a removed item.
struct JSONObjects: Sendable {
    /// The name of the member that identifies an object.
    let idMember: String
    /// The path of members to the array of objects in the response to a request for the collection.
    let itemsPath: [String]

    private typealias Failure = JSONFailure

    /// The objects of a response for the collection, with their identifiers.
    ///
    /// - Throws: A ``JSONFailure``.
    func objects(inCollection body: Data) throws -> [(id: String, data: Data)] {
        try Self.withDocument(body) { bytes, document in
            var scanner = JSONScanner(bytes, at: document.lowerBound)
            guard let array = try scanner.skipValue(finding: itemsPath[...]), bytes[array.lowerBound] == .openingBracket
            else {
                let place = itemsPath.isEmpty ? "" : " under \"\(itemsPath.joined(separator: "."))\""
                throw Failure("The response contains no array\(place).")
            }
            var ranges: [Range<Int>] = []
            JSONScanner.forEachElement(of: bytes, array) { ranges.append($0) }
            var objects: [(id: String, data: Data)] = []
            objects.reserveCapacity(ranges.count)
            var ids: Set<ExactText> = []
            for (index, range) in ranges.enumerated() {
                do {
                    let id = try id(of: range, in: bytes)
                    guard ids.insert(ExactText(id)).inserted else {
                        throw Failure("Another object has the same member \"\(idMember)\".", id: id)
                    }
                    // A copy, because a slice would keep the whole response in memory.
                    objects.append((id, Data(bytes[range])))
                } catch let failure as Failure {
                    throw Failure("The object at index \(index) can't be an item. \(failure.message)", id: failure.id)
                }
            }
            return objects
        }
    }

    /// The object of a response for one item, or an item that is to be written, with its identifier.
    ///
    /// - Throws: A ``JSONFailure``.
    func object(in body: Data) throws -> (id: String, data: Data) {
        try Self.withDocument(body) { bytes, document in
            (try id(of: document, in: bytes), document.count == body.count ? body : Data(bytes[document]))
        }
    }

    /// An item that is to be written under a key, with the identifier as the key spells it.
    ///
    /// - Throws: A ``JSONFailure`` if the item is not the object of the key.
    func object(in body: Data, writtenUnder key: CacheKey) throws -> Data {
        try Self.withDocument(body) { bytes, document in
            let place = try idRange(of: document, in: bytes)
            let id = CacheKey(try id(at: place, in: bytes))
            if id == key { return body }
            guard id.isSameUUID(as: key) else { throw Failure("Its member \"\(idMember)\" differs from its key.") }
            // The text of a UUID needs no escapes.
            return Data(bytes[..<place.lowerBound]) + Data("\"\(key.rawValue)\"".utf8)
                + Data(bytes[place.upperBound...])
        }
    }

    /// Whether two items are the same, apart from white space between their tokens: APIs that print JSON for people
    /// indent an object in an array more than one alone.
    static func areSame(_ left: Data?, _ right: Data?) -> Bool {
        if left == right { return true }
        guard let left, let right else { return false }
        return JSONText.withoutWhitespace(left) == JSONText.withoutWhitespace(right)
    }

    private func id(of object: Range<Int>, in bytes: UnsafeRawBufferPointer) throws -> String {
        try id(at: idRange(of: object, in: bytes), in: bytes)
    }

    private func idRange(of object: Range<Int>, in bytes: UnsafeRawBufferPointer) throws -> Range<Int> {
        guard bytes[object.lowerBound] == .openingBrace else { throw Failure("It is not a JSON object.") }
        var values: [Range<Int>] = []
        JSONScanner.forEachMember(of: bytes, object) { name, value in
            if JSONScanner.isName(UnsafeRawBufferPointer(rebasing: bytes[name]), idMember) { values.append(value) }
        }
        // Decoders disagree on which of two members counts.
        guard values.count == 1, let value = values.first else {
            throw Failure("It has \(values.isEmpty ? "no" : "more than one") member \"\(idMember)\".")
        }
        return value
    }

    private func id(at value: Range<Int>, in bytes: UnsafeRawBufferPointer) throws -> String {
        let content = UnsafeRawBufferPointer(rebasing: bytes[value])
        if content.first == .quote {
            let string = UnsafeRawBufferPointer(rebasing: content.dropFirst().dropLast())
            guard let id = JSONString.decode(string) else {
                throw Failure("Its member \"\(idMember)\" is not valid Unicode.")
            }
            return id
        }
        let digits = content.first == .minus ? content.dropFirst() : content[...]
        guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            throw Failure("Its member \"\(idMember)\" is neither a string nor an integer.")
        }
        return String(decoding: content, as: UTF8.self)
    }

    /// Calls a closure with the bytes of a document and the range of its value.
    private static func withDocument<Value>(
        _ data: Data, _ body: (UnsafeRawBufferPointer, Range<Int>) throws -> Value
    ) throws -> Value {
        try data.withUnsafeBytes { bytes in
            // A byte order mark is not allowed in JSON, but may be ignored: RFC 8259, section 8.1.
            let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
            let text = UnsafeRawBufferPointer(rebasing: bytes[start...])
            guard let document = JSONScanner.document(text) else {
                throw Failure(bytes.isEmpty ? "The response is empty." : "The response is not valid JSON.")
            }
            return try body(text, document)
        }
    }
}

/// The reason why a text is not that of items.
struct JSONFailure: Error {
    let message: String
    /// The identifier of the object, if it has one.
    let id: String?

    init(_ message: String, id: String? = nil) {
        (self.message, self.id) = (message, id)
    }
}

extension UInt8 {
    fileprivate static let quote = UInt8(ascii: "\"")
    fileprivate static let minus = UInt8(ascii: "-")
    fileprivate static let openingBrace = UInt8(ascii: "{")
    fileprivate static let openingBracket = UInt8(ascii: "[")
}
