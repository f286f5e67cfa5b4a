/// A key on a coding path: a member's name or an element's index, with the same spelling as in Foundation's coders.
struct PathKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }

    /// The key of an array's element.
    init(index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    /// The key under which a class encodes its superclass.
    static let `super` = PathKey(stringValue: "super")
}
