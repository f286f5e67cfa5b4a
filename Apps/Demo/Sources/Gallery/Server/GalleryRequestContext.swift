import Hummingbird

/// The context of a request. Bodies are URL-encoded forms of limited size.
struct GalleryRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage

    init(source: Source) {
        coreContext = CoreRequestContextStorage(source: source)
    }

    var requestDecoder: URLEncodedFormDecoder { URLEncodedFormDecoder() }

    /// The maximum size of a body, in bytes. The longest form is the sign-in form.
    var maxUploadSize: Int { 16 * 1024 }
}
