/// A declaration that the text of a property can be searched.
///
/// ```swift
/// extension Note: Queryable {
///     static let searchable = [Searchable("title", \Note.title, weight: 2), Searchable("body", \Note.body)]
/// }
/// ```
///
/// ``Query/searching(_:)-(String)`` finds objects by the words of all searchable properties of their type.
public struct Searchable<Object>: Sendable {
    /// The path to the member that the property is stored in.
    public let path: String
    /// The property.
    public let keyPath: any PartialKeyPath<Object> & Sendable
    /// How much a word in the property counts for the relevance of an object.
    public let weight: Double

    /// Returns the text of an object, `nil` if it has none.
    let text: @Sendable (Object) -> String?

    /// Declares a property with a text.
    ///
    /// - Parameters:
    ///   - path: The path to the member that the property is stored in, see ``Index/init(_:_:)``.
    ///   - keyPath: The property.
    ///   - weight: How much a word in the property counts for the relevance of an object, a finite number that is not
    ///     negative.
    public init(_ path: String, _ keyPath: any KeyPath<Object, String> & Sendable, weight: Double = 1) {
        self.init(path, keyPath, weight) { $0[keyPath: keyPath] }
    }

    /// Declares a property that may have a text.
    ///
    /// - Parameters:
    ///   - path: The path to the member that the property is stored in, see ``Index/init(_:_:)``.
    ///   - keyPath: The property.
    ///   - weight: How much a word in the property counts for the relevance of an object, a finite number that is not
    ///     negative.
    public init(_ path: String, _ keyPath: any KeyPath<Object, String?> & Sendable, weight: Double = 1) {
        self.init(path, keyPath, weight) { $0[keyPath: keyPath] }
    }

    /// Declares a property with a list of texts, such as tags.
    ///
    /// The texts are searched as one, with a line feed between two of them. So a phrase can begin at the end of one and
    /// go on in the next.
    ///
    /// - Parameters:
    ///   - path: The path to the member that the property is stored in, see ``Index/init(_:_:)``.
    ///   - keyPath: The property.
    ///   - weight: How much a word in the property counts for the relevance of an object, a finite number that is not
    ///     negative.
    public init(_ path: String, _ keyPath: any KeyPath<Object, [String]> & Sendable, weight: Double = 1) {
        self.init(path, keyPath, weight) { object in
            let texts = object[keyPath: keyPath]
            return texts.isEmpty ? nil : texts.joined(separator: "\n")
        }
    }

    private init(
        _ path: String, _ keyPath: any PartialKeyPath<Object> & Sendable, _ weight: Double,
        _ text: @escaping @Sendable (Object) -> String?
    ) {
        precondition(weight >= 0 && weight.isFinite, "The weight of \(path) is negative, or not a number: \(weight)")
        (self.path, self.keyPath, self.weight, self.text) = (path, keyPath, weight, text)
    }
}
