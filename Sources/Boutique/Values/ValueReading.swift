import Bodega
import Foundation
import Logging

/// The result of reading a stored value.
struct ValueReading<Value: StorableItem>: Sendable {
    var data: Data?
    /// The default value if no bytes are stored or they cannot be decoded.
    var value: Value
    var error: StorageError?

    init(data: Data?, value: Value, error: StorageError? = nil) {
        self.data = data
        self.value = value
        self.error = error
    }

    /// Decodes bytes. A failure is logged.
    init(decoding data: Data?, key: String, default defaultValue: Value, coding: ValueCoding<Value> = .envelope) {
        self.init(data: data, value: defaultValue)
        guard let data else { return }
        do throws(StorageError) {
            value = try coding.decode(data, key)
        } catch {
            self.error = error
            boutiqueLogger.error("A stored value could not be decoded.", metadata: ["error": "\(error)"])
        }
    }
}
