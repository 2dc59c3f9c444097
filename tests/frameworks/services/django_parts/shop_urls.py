"""The shop in Django: settings and views, for `django_wsgi`, `django_asgi` and `drf`."""

import asyncio
import json

import django
from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.urls import path
from django.views.decorators.http import require_GET, require_POST
from shop_errors import NotFound, OutOfStock, SkuTaken, ValidationFailed


def configure(**more):
    """Configure Django for the shop, whose routes are those of the module `shop_urls`."""
    settings.configure(
        SECRET_KEY="shop",
        ALLOWED_HOSTS=["*"],
        ROOT_URLCONF="shop_urls",
        MIDDLEWARE=[
            "shop_errors.frameworks.django.ErrorBoundary",
            "corsheaders.middleware.CorsMiddleware",
            "shop_urls.keep_session",
            "django.middleware.common.CommonMiddleware",
        ],
        SHOP_ERRORS={"body_limit": 1000},
        CORS_ALLOWED_ORIGINS=["http://shop.example"],
        INSTALLED_APPS=["corsheaders"],
        **more,
    )
    django.setup()


def keep_session(get_response):
    """Set a cookie, as sessions do."""

    def middleware(request):
        response = get_response(request)
        response.set_cookie("session", "1")
        return response

    return middleware


def show(request, item):
    """One item."""
    if item != "1":
        raise NotFound
    return JsonResponse({"id": item})


@require_POST
def create(request):
    """A new item."""
    if request.content_type != "application/json":
        return HttpResponse("Send JSON", status=415)
    try:
        order = json.loads(request.body)
    except ValueError:
        raise BadRequest from None
    if not isinstance(order, dict) or not isinstance(order.get("amount"), int):
        raise ValidationFailed(field="amount")
    if order.get("sku") == "few":
        raise OutOfStock(available=3)
    return JsonResponse({"sku": order.get("sku")}, status=201)


@require_GET
def typed(request):
    """An error of the taxonomy."""
    raise SkuTaken


def bare(request):
    """A status without a code."""
    return HttpResponse("Conflict", status=409)


def crash(request):
    """A bug."""
    raise RuntimeError("hunter2")


def stream(request):
    """A body that fails on its way."""

    def parts():
        yield b"begin" * 4000
        raise RuntimeError("hunter2")

    return StreamingHttpResponse(parts())


async def slow(request):
    """An answer that takes longer than its client waits."""
    await asyncio.sleep(0.5)
    return JsonResponse({"done": True})


urlpatterns = [
    path("items/<item>", show),
    path("items", create),
    *(path(each.__name__, each) for each in (typed, bare, crash, stream, slow)),
]
