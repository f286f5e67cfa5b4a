import Hummingbird

/// What goes along with a request: bodies are forms, and small.
struct GalleryRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage

    init(source: Source) {
        coreContext = CoreRequestContextStorage(source: source)
    }

    var requestDecoder: URLEncodedFormDecoder { URLEncodedFormDecoder() }

    /// The largest body, in bytes. The longest form is the one to sign in with.
    var maxUploadSize: Int { 16 * 1024 }
}
